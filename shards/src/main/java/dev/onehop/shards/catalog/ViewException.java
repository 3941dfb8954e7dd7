package dev.onehop.shards.catalog;

/**
 * The namespace is a view. For a client that is not a mongos, a shard resolves a view only on the
 * data that it owns ({@code MongoProcessInterface::create} in the server's {@code
 * mongod_process_interface_factory.cpp}). A view that joins a sharded collection would return only
 * a part of its documents. Commands on views therefore go to a mongos.
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
   * @param kind the kind of the namespace, such as {@code a view}
   */
  protected ViewException(String namespace, String kind) {
    super(namespace + " is " + kind);
    this.kind = kind;
  }

  /** The kind of the namespace, such as {@code a view}. */
  public final String kind() {
    return kind;
  }
}
