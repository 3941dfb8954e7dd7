package dev.onehop.shards.catalog;

/**
 * The namespace is a view. A shard resolves a view by what it owns itself if the client is not a
 * mongos ({@code MongoProcessInterface::create} in the server's {@code
 * mongod_process_interface_factory.cpp}), so that a view that joins a sharded collection would give
 * a part of its documents. A mongos executes commands on it.
 */
public class ViewException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String kind;

  ViewException(String namespace) {
    this(namespace, "a view");
  }

  /**
   * Creates the exception.
   *
   * @param kind what the namespace is, such as {@code a view}
   */
  protected ViewException(String namespace, String kind) {
    super(namespace + " is " + kind);
    this.kind = kind;
  }

  /** What the namespace is, such as {@code a view}. */
  public final String kind() {
    return kind;
  }
}
