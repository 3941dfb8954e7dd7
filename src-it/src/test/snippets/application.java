import com.mongodb.client.MongoClient;
import dev.onehop.routing.OneHop;
import io.micrometer.core.instrument.MeterRegistry;

class Application {
  void clients(MeterRegistry registry) {
    /* 1 */
  }

  MongoClient pipelined(String uri) {
    return /* 2 */
  }
}
