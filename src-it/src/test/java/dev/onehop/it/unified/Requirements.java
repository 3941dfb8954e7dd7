package dev.onehop.it.unified;

import com.mongodb.MongoException;
import java.util.List;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;

/** Checks whether a deployment meets the requirements of a test. */
final class Requirements {
  private final Set<String> topologies;
  private final List<Integer> version;
  private final BsonDocument parameters;

  Requirements(Deployment deployment) {
    this.topologies =
        deployment.topology().equals("sharded")
            ? Set.of("sharded", "sharded-replicaset")
            : Set.of(deployment.topology());
    this.version =
        version(
            deployment
                .internal()
                .getDatabase("admin")
                .runCommand(new BsonDocument("buildInfo", new BsonInt32(1)))
                .getString("version"));
    this.parameters = parameters(deployment);
  }

  private static BsonDocument parameters(Deployment deployment) {
    try {
      return deployment
          .internal()
          .getDatabase("admin")
          .runCommand(new BsonDocument("getParameter", new BsonString("*")), BsonDocument.class);
    } catch (MongoException e) {
      return new BsonDocument(); // The stand-in router has no server parameters.
    }
  }

  private static List<Integer> version(String text) {
    return List.of(text.split("\\.", -1)).stream().limit(3).map(Integer::valueOf).toList();
  }

  /** Whether the list is empty or one of its requirements is met. */
  boolean areMet(BsonArray requirements) {
    return requirements.isEmpty()
        || requirements.stream().anyMatch(each -> isMet(each.asDocument()));
  }

  private boolean isMet(BsonDocument requirement) {
    return requirement.entrySet().stream().allMatch(each -> isMet(each.getKey(), each.getValue()));
  }

  private boolean isMet(String name, BsonValue value) {
    return switch (name) {
      case "minServerVersion" -> compare(value) >= 0;
      case "maxServerVersion" -> compare(value) <= 0;
      case "topologies" ->
          value.asArray().stream()
              .anyMatch(each -> topologies.contains(each.asString().getValue()));
      case "serverless" -> !value.asString().getValue().equals("require");
      case "auth" -> value.equals(BsonBoolean.FALSE);
      case "csfle" -> value.equals(BsonBoolean.FALSE);
      case "serverParameters" ->
          value.asDocument().entrySet().stream()
              .allMatch(each -> each.getValue().equals(parameters.get(each.getKey())));
      default -> false;
    };
  }

  private int compare(BsonValue other) {
    List<Integer> theirs = version(other.asString().getValue());
    for (int i = 0; i < theirs.size(); i++) {
      int compared = Integer.compare(version.get(i), theirs.get(i));
      if (compared != 0) {
        return compared;
      }
    }
    return 0;
  }
}
