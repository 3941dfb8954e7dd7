package dev.onehop.spring.boot;

import dev.onehop.routing.OneHop;
import java.util.Map;
import org.bson.BSONException;
import org.bson.BsonDocument;
import org.bson.json.JsonParseException;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/**
 * The endpoint {@code onehop}. Turning routing off and on requires {@code
 * management.endpoint.onehop.access=unrestricted}.
 */
@Endpoint(id = "onehop", defaultAccess = Access.READ_ONLY)
public class OneHopEndpoint {
  private final OneHop oneHop;

  OneHopEndpoint(OneHop oneHop) {
    this.oneHop = oneHop;
  }

  /** The current state of the router. */
  @ReadOperation
  public Map<String, Object> status() {
    return Details.of(oneHop.status());
  }

  /**
   * Explains where a read would go now.
   *
   * @param namespace {@code database.collection}
   * @param filter the filter of the read, in extended JSON
   */
  @ReadOperation
  public Map<String, Object> explain(@Selector String namespace, String filter) {
    try {
      return Details.of(oneHop.explain(namespace, BsonDocument.parse(filter)));
    } catch (IllegalArgumentException | JsonParseException | BSONException e) {
      throw invalid(e);
    }
  }

  /**
   * Turns the routing of new operations off or on.
   *
   * @param routing whether new operations are routed
   */
  @WriteOperation
  public Map<String, Object> setRouting(boolean routing) {
    try {
      oneHop.setRouting(routing);
    } catch (IllegalStateException e) {
      throw invalid(e);
    }
    return status();
  }

  private static InvalidEndpointRequestException invalid(RuntimeException failure) {
    String reason = String.valueOf(failure.getMessage());
    return new InvalidEndpointRequestException(reason, reason);
  }
}
