package dev.onehop.measure.delivery;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a process of clients is to do, as it reads it from its standard input: the URL may hold a
 * password, which command lines must not.
 *
 * @param url the cluster's, with the database
 * @param authority PEM file with what certificates are trusted by; null for what Java trusts
 * @param run marks the documents
 * @param firstClient the number of its first client
 * @param clients how many it has
 * @param documents that each client begins with
 * @param bytes of a document
 * @param rate writes per second of each client
 * @param durationMillis how long they write
 * @param awaitMillis how long servers may wait for events
 * @param patienceMillis if what was written has not come after so long, it will not come
 * @param total whether the ordered path has one order of all events
 * @param folder where the process leaves what it has found
 */
record LoadTask(
    String url,
    @Nullable String authority,
    int run,
    int firstClient,
    int clients,
    int documents,
    int bytes,
    double rate,
    long durationMillis,
    long awaitMillis,
    long patienceMillis,
    boolean total,
    String folder) {

  @Nullable Path authorityFile() {
    return authority == null ? null : Path.of(authority);
  }

  Duration await() {
    return Duration.ofMillis(awaitMillis);
  }

  @Override
  public String toString() {
    return clients + " clients from " + firstClient; // Without the URL.
  }
}
