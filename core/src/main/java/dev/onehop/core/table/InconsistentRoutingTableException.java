package dev.onehop.core.table;

/**
 * What was read from the config database does not make a routing table: a gap, an overlap, another
 * incarnation of the collection, or a layout that is not known. The message says which and where.
 * The answer to it is to load the table anew, in full.
 */
public final class InconsistentRoutingTableException extends RuntimeException {
  private static final long serialVersionUID = 1;

  InconsistentRoutingTableException(String message) {
    super(message);
  }
}
