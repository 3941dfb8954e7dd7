package dev.onehop.measure.delivery;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.mongodb.MongoClientSettings;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a consumer process is to do, as it reads it from its standard input: the URL may hold a
 * password, which command lines must not.
 *
 * @param url the cluster's, with the database
 * @param authority PEM file with what certificates are trusted by; null for what Java trusts
 * @param database of the collection
 * @param collection whose events are read
 * @param run which rows are looked at
 * @param source {@link StreamSource#label}
 * @param total whether direct streams are in the order of all events, and not of each key
 * @param channels of all processes together
 * @param process this one, from 0: it has every channel whose number, modulo the processes, is this
 * @param processes how many there are
 * @param startSeconds cluster time from which events are read
 * @param startIncrement its second part
 * @param folder where the process leaves what it has seen
 */
record ConsumerTask(
    String url,
    @Nullable String authority,
    String database,
    String collection,
    int run,
    String source,
    boolean total,
    int channels,
    int process,
    int processes,
    int startSeconds,
    int startIncrement,
    String folder) {

  /** How the cluster is connected to. */
  MongoClientSettings settings() {
    return Connections.settings(url, authority == null ? null : Path.of(authority));
  }

  /** Whether all events of a channel have one order. */
  @JsonIgnore
  boolean isTotallyOrdered() {
    return total || source.equals(StreamSource.MONGOS.label());
  }

  /** Whether a channel is this process's own. */
  boolean hasChannel(int channel) {
    return channel % processes == process;
  }

  @Override
  public String toString() {
    return source + ", " + channels + " channels, process " + process; // Without the URL.
  }
}
