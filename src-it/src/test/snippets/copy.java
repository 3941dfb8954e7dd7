import dev.onehop.copy.ClusterCopy;
import java.util.List;
import org.bson.BsonDocument;

abstract class Copy {
  abstract BsonDocument withoutSecrets(String namespace, BsonDocument document);

  void run() throws InterruptedException {
    /* 1 */
  }
}
