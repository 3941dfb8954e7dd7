package dev.onehop.resync;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import org.bson.BsonTimestamp;
import org.bson.Document;

/** A server of a replica set. Thread-safe. */
public final class Member implements AutoCloseable {

  private static final BsonTimestamp NONE = new BsonTimestamp(0);

  private final String host;
  private final MongoClient client;

  Member(String host, MongoClient client) {
    this.host = host;
    this.client = client;
  }

  /** The member's name and port, as in the set's configuration. */
  public String host() {
    return host;
  }

  public MongoClient client() {
    return client;
  }

  /**
   * Runs a command on the database {@code admin}.
   *
   * @throws MongoException if the command fails
   */
  public Document admin(Document command) {
    return client.getDatabase("admin").runCommand(command);
  }

  /**
   * Runs a command without arguments on the database {@code admin}.
   *
   * @throws MongoException if the command fails
   */
  public Document admin(String command) {
    return admin(new Document(command, 1));
  }

  /**
   * Runs a command without arguments on the database {@code admin}; a failure ends the run.
   *
   * @throws Failure if the command fails
   */
  Document require(String command) {
    try {
      return admin(command);
    } catch (MongoException e) {
      throw Failure.run(host + ": " + command + ": " + Failure.firstLine(e), e);
    }
  }

  /** The time of the member's last write; zero if the server does not report it. */
  public BsonTimestamp lastWrite() {
    return lastWrite(admin("hello"));
  }

  public static BsonTimestamp lastWrite(Document hello) {
    Document write = hello.get("lastWrite", Document.class);
    Document time = write == null ? null : write.get("opTime", Document.class);
    return time == null ? NONE : time.get("ts", BsonTimestamp.class);
  }

  @Override
  public void close() {
    client.close();
  }
}
