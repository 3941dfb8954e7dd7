package dev.onehop.resync;

import com.mongodb.MongoException;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/** A replica set, with a connection to each member that was asked for. */
final class SetView implements AutoCloseable {

  private final Access access;
  private final Map<String, Member> members = new HashMap<>();
  private final Map<String, Member> strangers = new HashMap<>();
  private String primary;

  /**
   * Connects to a replica set.
   *
   * @throws Failure if none of the URL's hosts is a member of one that has a primary
   */
  SetView(Access access) {
    this.access = access;
    this.primary = "";
    try {
      this.primary = findPrimary();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** A member by its name and port. */
  synchronized Member member(String host) {
    return members.computeIfAbsent(host, access::member);
  }

  /** A server that may know no users yet, for commands that everybody may run. */
  synchronized Member stranger(String host) {
    return strangers.computeIfAbsent(host, access::stranger);
  }

  /**
   * The primary of this moment.
   *
   * @throws Failure if there is none
   */
  synchronized Member primary() {
    try {
      if (member(primary).admin("hello").getBoolean("isWritablePrimary", false)) {
        return member(primary);
      }
    } catch (MongoException e) {
      // Another one may be it by now.
    }
    primary = findPrimary();
    return member(primary);
  }

  private String findPrimary() {
    String reason = "it has no primary";
    Set<String> hosts = new LinkedHashSet<>(access.seeds());
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
                      : " is no member of a replica set"));
        }
        if (known != null && member(known).admin("hello").getBoolean("isWritablePrimary", false)) {
          return known;
        }
      } catch (MongoException e) {
        reason = Failure.firstLine(e);
      }
    }
    throw Failure.run("cannot use the replica set of --url: " + reason, null);
  }

  /** The set's configuration as its primary has it. */
  Document config() {
    return primary().require("replSetGetConfig").get("config", Document.class);
  }

  /** What the primary knows of its members. */
  List<Document> states() {
    return primary().require("replSetGetStatus").getList("members", Document.class);
  }

  /** A member's entry in the configuration; null if there is none. */
  static @Nullable Document entry(Document config, String host) {
    for (Document member : config.getList("members", Document.class)) {
      if (member.getString("host").equalsIgnoreCase(host)) {
        return member;
      }
    }
    return null;
  }

  @Override
  public synchronized void close() {
    members.values().forEach(Member::close);
    members.clear();
    strangers.values().forEach(Member::close);
    strangers.clear();
  }
}
