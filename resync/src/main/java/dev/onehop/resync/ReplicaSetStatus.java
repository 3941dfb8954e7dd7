package dev.onehop.resync;

import com.mongodb.MongoException;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** The configuration and state of a replica set, and a connection to each member in use. */
final class ReplicaSetStatus implements AutoCloseable {

  private final ClusterUrl url;
  private final Map<String, Member> members = new HashMap<>();
  private final Map<String, Member> strangers = new HashMap<>();
  private @Nullable Member primary;

  /** Creates an object that connects to the members when they are used. */
  ReplicaSetStatus(ClusterUrl url) {
    this.url = url;
  }

  /** A member by its name and port. */
  synchronized Member member(String host) {
    return members.computeIfAbsent(host, name -> Member.of(url, name));
  }

  /**
   * A member with connections without a user, for servers that may have no users yet, and for
   * commands that need no user.
   */
  synchronized Member stranger(String host) {
    return strangers.computeIfAbsent(host, name -> Member.stranger(url, name));
  }

  /**
   * The present primary.
   *
   * @throws Failure if no host of the URL is a member of a set with a primary
   */
  synchronized Member primary() {
    try {
      if (primary != null && isPrimary(primary)) {
        return primary;
      }
    } catch (MongoException e) {
      // Another member may have become the primary.
    }
    primary = findPrimary();
    return primary;
  }

  private static boolean isPrimary(Member member) {
    return member.admin("hello").getBoolean("isWritablePrimary", false);
  }

  private Member findPrimary() {
    String reason = "it has no primary";
    MongoException cause = null;
    Set<String> hosts = new LinkedHashSet<>(url.hosts());
    hosts.addAll(members.keySet());
    for (String host : hosts) {
      try {
        Document hello = member(host).admin("hello");
        String known = hello.getString("primary");
        if (hello.getString("setName") == null) {
          throw Failure.usage(
              "--url: "
                  + host
                  + ("isdbgrid".equals(hello.getString("msg"))
                      ? " is a mongos; name the members of a shard"
                      : " is not a member of a replica set"));
        }
        if (known != null && isPrimary(member(known))) {
          return member(known);
        }
      } catch (MongoException e) {
        reason = Failure.firstLine(e);
        cause = e;
      }
    }
    throw Failure.run("cannot use the replica set of --url: " + reason, cause);
  }

  /** The set's configuration from its primary. */
  Document config() {
    return primary().require("replSetGetConfig").get("config", Document.class);
  }

  /** The states of the members, as the primary reports them. */
  List<Document> states() {
    return primary().require("replSetGetStatus").getList("members", Document.class);
  }

  @Override
  public synchronized void close() {
    members.values().forEach(Member::close);
    strangers.values().forEach(Member::close);
  }
}
