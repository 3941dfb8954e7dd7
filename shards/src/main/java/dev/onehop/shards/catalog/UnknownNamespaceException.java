package dev.onehop.shards.catalog;

/** No shard is known for a collection, usually because the cluster has no such database (yet). */
public final class UnknownNamespaceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UnknownNamespaceException(String database) {
    super("the cluster has no database '" + database + "'");
  }

  /** For a table that is missing for a reason other than a missing database. */
  public UnknownNamespaceException(Throwable reason) {
    super(reason.getMessage(), reason);
  }
}
