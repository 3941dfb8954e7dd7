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
  private @Nullable Group next;

  /**
   * @param documents the documents, each in its own group
   * @param keyField the field that has the key
   */
  Groups(Stream<Group> documents, String namespace, String keyField) {
    this.documents = documents;
    this.iterator = documents.iterator();
    this.namespace = namespace;
    this.keyField = keyField;
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
    documents.close();
  }
}
