package dev.onehop.streams.channel;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.streams.Snapshot;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The documents of a channel that were read: all documents up to an {@code _id}, in one or more
 * parts. All documents of a part have the state of one cluster time. A part begins at its first
 * document, and the part before it ends there.
 *
 * <p>So the keys between the last document of a part A and the first document of the next part B
 * belong to A. The query for B has also read these keys, and has found no document of the channel.
 * The sink still writes the events of these keys between A's time and B's time. This is safe: at
 * B's time none of these documents exists, so the events together leave none.
 *
 * <p>Immutable.
 *
 * @param upTo the last {@code _id} that was read; null if no document was read
 */
record SnapshotProgress(@Nullable SortedId upTo, List<Part> parts) {
  static final SnapshotProgress NONE = new SnapshotProgress(null, List.of());
  private static final BsonPath ID = BsonPath.of("documentKey._id");

  /**
   * @param from the {@code _id} of the part's first document
   * @param at the cluster time of the part's documents
   */
  record Part(SortedId from, BsonTimestamp at) {
    private BsonDocument toDocument() {
      return new BsonDocument("from", from.value()).append("at", at);
    }
  }

  static SnapshotProgress parse(@Nullable BsonValue stored) {
    if (stored == null) {
      return NONE;
    }
    List<Part> parts = new ArrayList<>();
    for (BsonValue each : stored.asDocument().getArray("parts")) {
      BsonDocument part = each.asDocument();
      parts.add(new Part(SortedId.of(part, "from"), part.getTimestamp("at")));
    }
    return new SnapshotProgress(SortedId.find(stored.asDocument(), "upTo"), List.copyOf(parts));
  }

  BsonDocument toDocument() {
    BsonArray all = new BsonArray();
    parts.forEach(part -> all.add(part.toDocument()));
    BsonDocument document = new BsonDocument("parts", all);
    return upTo == null ? document : document.append("upTo", upTo.value());
  }

  /**
   * The progress after some more documents.
   *
   * @param reads the documents in the order of {@code _id}, at least one
   */
  SnapshotProgress after(List<SnapshotReader.Read> reads) {
    List<Part> all = new ArrayList<>(parts);
    for (SnapshotReader.Read read : reads) {
      if (all.isEmpty() || !all.get(all.size() - 1).at().equals(read.at())) {
        all.add(new Part(read.id(), read.at()));
      }
    }
    return new SnapshotProgress(reads.get(reads.size() - 1).id(), List.copyOf(all));
  }

  /** Compares the progress of two channels by the last {@code _id} that was read. */
  static int compareUpTo(SnapshotProgress one, SnapshotProgress other) {
    if (one.upTo == null || other.upTo == null) {
      return Boolean.compare(one.upTo != null, other.upTo != null);
    }
    return one.upTo.compareTo(other.upTo);
  }

  /**
   * The position after which the channel needs events.
   *
   * @param first the time of the first snapshot, for a channel without documents
   */
  Checkpoint place(BsonTimestamp first) {
    return Snapshot.next(parts.stream().map(Part::at).min(BsonTimestamp::compareTo).orElse(first));
  }

  /** Whether the documents that were read already contain a change. */
  boolean includes(StreamEvent.Change change) {
    BsonTimestamp time = change.clusterTime();
    if (parts.stream().noneMatch(part -> time.compareTo(part.at()) <= 0)) {
      return false;
    }
    BsonValue id = ID.value(change.document());
    if (id == null) {
      return false;
    }
    SortedId key = new SortedId(id);
    Part its = parts.get(0);
    for (Part part : parts) {
      if (part.from().compareTo(key) <= 0) {
        its = part;
      }
    }
    return time.compareTo(its.at()) <= 0;
  }
}
