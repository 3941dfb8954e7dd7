import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.onehop.routing.OneHop;
import dev.onehop.testbed.GeoShardedCluster;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/* 1 */

class Spring {
  @interface SpringBootTest {}

  /* 2 */
  }
}

class Testcontainers {
  @interface Container {}

  /* 3 */
}
