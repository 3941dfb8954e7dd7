import com.mongodb.client.model.Filters;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.observation.RouterStatus;
import java.time.Duration;
import org.slf4j.Logger;

class IsItWorking {
  void ready(OneHop router, Logger log) {
    /* 1 */
  }
}
