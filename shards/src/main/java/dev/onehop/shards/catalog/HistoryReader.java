package dev.onehop.shards.catalog;

import java.util.List;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/** Reads the cluster's change history, {@code config.changelog}. */
public interface HistoryReader {

  /**
   * The newest entries, the newest first.
   *
   * @param limit how many at the most
   */
  Mono<List<BsonDocument>> newest(int limit);
}
