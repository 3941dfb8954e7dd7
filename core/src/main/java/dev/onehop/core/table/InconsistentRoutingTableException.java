package dev.onehop.core.table;

/**
 * The documents of the config database do not form a routing table: they have a gap, an overlap,
 * another incarnation of the collection, or an unknown layout. The message contains the reason and
 * the place. The caller should load the whole table again.
 */
public final class InconsistentRoutingTableException extends RuntimeException {
  private static final long serialVersionUID = 1;

  InconsistentRoutingTableException(String message) {
    super(message);
  }
}
