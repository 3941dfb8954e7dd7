package dev.onehop.shards.catalog;

/** A routing table was not built because the Java runtime has run out of memory or stack. */
final class OutOfResourcesException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  OutOfResourcesException(VirtualMachineError cause) {
    super("no routing table: " + cause, cause);
  }
}
