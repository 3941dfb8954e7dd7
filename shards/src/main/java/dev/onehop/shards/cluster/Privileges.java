package dev.onehop.shards.cluster;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The privileges of the connected user on a server. Immutable.
 *
 * @param granted the documents of the privileges; null if the server has no access control
 */
public record Privileges(@Nullable List<BsonDocument> granted) {

  /** The command for the database {@code admin} that returns the privileges. */
  public static BsonDocument command() {
    return new BsonDocument("connectionStatus", new BsonInt32(1))
        .append("showPrivileges", BsonBoolean.TRUE);
  }

  /** Reads the privileges from the reply to {@link #command}. */
  public static Privileges of(BsonDocument status) {
    BsonDocument auth = status.getDocument("authInfo", new BsonDocument());
    return new Privileges(
        auth.getArray("authenticatedUsers", new BsonArray()).isEmpty()
            ? null
            : auth.getArray("authenticatedUserPrivileges", new BsonArray()).stream()
                .map(BsonValue::asDocument)
                .toList());
  }

  /**
   * The actions that the user lacks on a resource.
   *
   * @param database the database; null for the cluster resource, empty for all databases
   * @param collection the collection; empty for all collections
   */
  public List<String> missing(@Nullable String database, String collection, String... actions) {
    if (granted == null) {
      return List.of();
    }
    Set<String> allowed = new HashSet<>();
    for (BsonDocument privilege : granted) {
      if (covers(privilege.getDocument("resource", new BsonDocument()), database, collection)) {
        privilege
            .getArray("actions", new BsonArray())
            .forEach(action -> allowed.add(action.asString().getValue()));
      }
    }
    List<String> missing = new ArrayList<>();
    if (!allowed.contains("anyAction")) {
      missing.addAll(List.of(actions));
      missing.removeAll(allowed);
    }
    return missing;
  }

  private static boolean covers(
      BsonDocument resource, @Nullable String database, String collection) {
    if (resource.containsKey("anyResource")) {
      return true;
    }
    return database == null
        ? resource.containsKey("cluster")
        : covers(resource.get("db"), database) && covers(resource.get("collection"), collection);
  }

  private static boolean covers(@Nullable BsonValue granted, String name) {
    return granted instanceof BsonString known
        && (known.getValue().isEmpty() || known.getValue().equals(name));
  }
}
