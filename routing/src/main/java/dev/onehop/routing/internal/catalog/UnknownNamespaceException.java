package dev.onehop.routing.internal.catalog;

/** The cluster has no database of that name (yet), so nothing says where its collections live. */
public final class UnknownNamespaceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UnknownNamespaceException(String database) {
    super("the cluster has no database '" + database + "'");
  }
}
