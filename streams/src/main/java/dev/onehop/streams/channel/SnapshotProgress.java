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
 * The progress of a channel's documents: up to an {@code _id}, in parts that were each read as of
 * one cluster time. A part begins at its first document, and the part before it ends there. The
 * scan may have passed keys before this document at the later time. No document of the channel
 * existed there at that time, so that all later events of these keys count.
 *
 * <p>Immutable.
 *
 * @param upTo the last {@code _id} that was read; null for none
 */
record SnapshotProgress(@Nullable SortedId upTo, List<Part> parts) {
  static final SnapshotProgress NONE = new SnapshotProgress(null, List.of());
  private static final BsonPath ID = BsonPath.of("documentKey._id");

  /**
   * @param from the first {@code _id}
   * @param at the cluster time
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

  /** The progress after these documents, which are in order and not empty. */
  SnapshotProgress after(List<SnapshotReader.Read> reads) {
    List<Part> all = new ArrayList<>(parts);
    for (SnapshotReader.Read read : reads) {
      if (all.isEmpty() || !all.get(all.size() - 1).at().equals(read.at())) {
        all.add(new Part(read.id(), read.at()));
      }
    }
    return new SnapshotProgress(reads.get(reads.size() - 1).id(), List.copyOf(all));
  }

  /** Compares the progress of two channels. */
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

  /** Whether the documents that were read contain a change. */
  boolean includes(StreamEvent.Change change) {
    BsonTimestamp time = change.clusterTime();
    if (parts.stream().noneMatch(part -> time.compareTo(part.at()) <= 0)) {
      return false;
    }
    BsonPath.Located id = ID.find(change.document());
    if (id == null) {
      return false;
    }
    SortedId key = new SortedId(id.value());
    Part its = parts.get(0);
    for (Part part : parts) {
      if (part.from().compareTo(key) <= 0) {
        its = part;
      }
    }
    return time.compareTo(its.at()) <= 0;
  }
}
