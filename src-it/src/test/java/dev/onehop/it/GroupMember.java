package dev.onehop.it;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.channel.ChannelBatch;
import dev.onehop.streams.channel.ChannelGroup;
import dev.onehop.streams.channel.ChannelSink;
import dev.onehop.streams.channel.FencedException;
import dev.onehop.streams.channel.FencedSink;
import dev.onehop.streams.channel.SnapshotThenStream;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.Document;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A member of a group in a separate process. It appends each value of a document to the list of the
 * document's key. The process prints a line for each refused write, and ends when its standard
 * input ends.
 */
public final class GroupMember {
  static final String REFUSED = "refused";

  /** The delay of a write. It is so long that a write is nearly always in flight. */
  private static final Duration WRITE_DELAY = Duration.ofMillis(20);

  private GroupMember() {}

  /**
   * The arguments of a member.
   *
   * @param source the URL of the cluster whose events are read
   * @param sink the URL of the cluster that stores the leases and the written documents
   * @param snapshot whether the existing documents are written first; only with a fence
   */
  record Task(
      String source,
      String sink,
      Duration lease,
      Duration renewal,
      boolean fenced,
      boolean snapshot) {
    Process start(Path log) throws IOException {
      return new ProcessBuilder(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-Xmx256m",
              "-cp",
              System.getProperty("java.class.path"),
              GroupMember.class.getName(),
              source,
              sink,
              lease.toString(),
              renewal.toString(),
              Boolean.toString(fenced),
              Boolean.toString(snapshot))
          .redirectErrorStream(true)
          .redirectOutput(log.toFile())
          .start();
    }
  }

  /** Runs until standard input ends. It ends when the parent process ends. */
  public static void main(String[] args) throws IOException, InterruptedException {
    MongoClient client = MongoClients.create(args[1]);
    MongoDatabase database = client.getDatabase("group");
    MongoCollection<Document> applied = database.getCollection("applied");
    ChannelGroup group =
        ChannelGroup.builder(
                ShardedChangeStream.builder(args[0]).collection("streams", "group").build(),
                ChannelGroupIT.CHANNELS,
                "it",
                database.getCollection("leases"))
            .maxBatch(50)
            .lease(Duration.parse(args[2]), Duration.parse(args[3]))
            .build();
    FencedSink fenced =
        new FencedSink(client, applied, database.getCollection("states"), GroupMember::writes);
    Publisher<Void> process;
    if (Boolean.parseBoolean(args[5])) {
      MongoClient source = MongoClients.create(args[0]);
      process =
          SnapshotThenStream.of(group, source, source.getDatabase("streams").getCollection("group"))
              .process(fenced);
    } else {
      process =
          group.process(new Slow(Boolean.parseBoolean(args[4]) ? fenced : new Unfenced(applied)));
    }
    Disposable running = Mono.from(process).subscribe(nothing -> {}, GroupMember::failed);
    while (System.in.read() >= 0) {
      // The content of standard input is ignored.
    }
    running.dispose();
    RealTime.pass(Duration.ofSeconds(2));
    System.exit(0);
  }

  private static void failed(Throwable cause) {
    cause.printStackTrace();
    System.exit(1);
  }

  private static List<WriteModel<BsonDocument>> writes(StreamEvent.Change change) {
    BsonDocument event = change.document();
    BsonDocument values =
        event.containsKey("updateDescription")
            ? event.getDocument("updateDescription").getDocument("updatedFields")
            : event.getDocument("fullDocument");
    return List.of(
        new UpdateOneModel<>(
            Filters.eq(event.getDocument("documentKey").get("_id")),
            Updates.push("values", values.get("n")),
            new UpdateOptions().upsert(true)));
  }

  /** Delays each write, and ignores cancellations. So only the fence can stop a late write. */
  private record Slow(ChannelSink sink) implements ChannelSink {
    @Override
    public Publisher<Checkpoint> begin(int channel, long term) {
      return sink.begin(channel, term);
    }

    @Override
    public Publisher<Void> write(ChannelBatch batch) {
      return Mono.fromFuture(
          () ->
              Mono.defer(() -> Mono.from(sink.write(batch)))
                  .delaySubscription(WRITE_DELAY)
                  .doOnError(FencedException.class, refused -> System.out.println(REFUSED))
                  .toFuture(),
          true);
    }
  }

  /** A planted fault: the writes do not contain the term, so no server refuses late ones. */
  private record Unfenced(MongoCollection<Document> applied) implements ChannelSink {
    @Override
    public Publisher<Checkpoint> begin(int channel, long term) {
      return Mono.empty();
    }

    @Override
    public Publisher<Void> write(ChannelBatch batch) {
      return Flux.fromIterable(batch.events())
          .concatMap(
              change -> applied.withDocumentClass(BsonDocument.class).bulkWrite(writes(change)))
          .then();
    }
  }
}
