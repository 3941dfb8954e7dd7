package dev.onehop.shards.catalog;

/** Nothing says where a collection lives: mostly since the cluster has no such database (yet). */
public final class UnknownNamespaceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UnknownNamespaceException(String database) {
    super("the cluster has no database '" + database + "'");
  }

  /** There is no table for another reason. */
  public UnknownNamespaceException(Throwable reason) {
    super(reason.getMessage(), reason);
  }
}
