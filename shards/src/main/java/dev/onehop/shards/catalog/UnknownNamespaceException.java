package dev.onehop.shards.catalog;

/** No shard is known for a collection, usually because the cluster has no such database (yet). */
public final class UnknownNamespaceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UnknownNamespaceException(String database) {
    super("the cluster has no database '" + database + "'");
  }

  /** Creates the exception for another reason of a missing table. */
  public UnknownNamespaceException(Throwable reason) {
    super(reason.getMessage(), reason);
  }
}
