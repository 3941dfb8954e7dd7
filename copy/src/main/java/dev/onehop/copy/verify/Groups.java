package dev.onehop.copy.verify;

import dev.onehop.core.bson.SortableKey;
import java.util.Iterator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The documents of a range in the order of their keys, grouped by key. Not thread-safe. */
final class Groups implements AutoCloseable {
  private final Stream<Group> documents;
  private final Iterator<Group> iterator;
  private final String namespace;
  private final String keyField;
  private final Runnable closed;
  private @Nullable Group next;

  /**
   * @param documents the documents, each in its own group
   * @param keyField the field that has the key
   * @param closed called when the documents are closed
   */
  Groups(Stream<Group> documents, String namespace, String keyField, Runnable closed) {
    this.documents = documents;
    this.iterator = documents.iterator();
    this.namespace = namespace;
    this.keyField = keyField;
    this.closed = closed;
  }

  /** The documents of the next key; null after the last key. */
  @Nullable Group next() {
    Group group = next == null ? one() : next;
    next = null;
    while (group != null && next == null) {
      next = one();
      if (next == null) {
        return group;
      }
      int compared = SortableKey.compare(group.order(), next.order());
      if (compared > 0) {
        throw new IllegalStateException(
            "the documents of " + namespace + " did not come in the order of " + keyField);
      }
      if (compared == 0) {
        group.add(next.onlyDocument());
        next = null;
      }
    }
    return group;
  }

  private @Nullable Group one() {
    return iterator.hasNext() ? iterator.next() : null;
  }

  @Override
  public void close() {
    try {
      documents.close();
    } finally {
      closed.run();
    }
  }
}
