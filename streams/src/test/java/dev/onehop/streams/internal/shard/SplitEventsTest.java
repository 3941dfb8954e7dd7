package dev.onehop.streams.internal.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

/**
 * Reads an event that is too large for a batch. One scripted server splits the event, as the
 * versions 6.0.9 and 7.0 do. Another scripted server does not support the stage.
 */
class SplitEventsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final String BEFORE = token(10, 1);
  private static final String LARGE = token(11, 2);
  private static final String AFTER = token(12, 3);

  private final List<BsonDocument> openings = Collections.synchronizedList(new ArrayList<>());

  @Test
  void joinsFragments() {
    Fragments fragments = new Fragments();
    assertThat(fragments.add(raw("{_id: {_data: 'a1'}, splitEvent: {fragment: 1, of: 3}, x: 1}")))
        .isFalse();
    assertThat(fragments.add(raw("{_id: {_data: 'a2'}, splitEvent: {fragment: 2, of: 3}, y: 2}")))
        .isFalse();
    assertThat(fragments.add(raw("{_id: {_data: 'a3'}, splitEvent: {fragment: 3, of: 3}, z: 3}")))
        .isTrue();
    assertThat(fragments.event(new BsonString("a")))
        .isEqualTo(BsonDocument.parse("{_id: 'a', x: 1, y: 2, z: 3}"));
  }

  @Test
  void unsplitEventIsComplete() {
    Fragments fragments = new Fragments();
    assertThat(fragments.add(raw("{_id: {_data: 'a'}, x: 1}"))).isTrue();
    assertThat(fragments.event(new BsonString("a")))
        .isEqualTo(BsonDocument.parse("{_id: 'a', x: 1}"));
  }

  @Test
  void rejectsMissingFragment() {
    Fragments fragments = new Fragments();
    fragments.add(raw("{_id: 1, splitEvent: {fragment: 1, of: 3}}"));
    assertThatThrownBy(() -> fragments.add(raw("{_id: 1, splitEvent: {fragment: 3, of: 3}}")))
        .isInstanceOf(CommandFailure.class);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void emitsWholeLargeEventOrItsKey(boolean splits) {
    try (ScriptedPeer server =
        ScriptedPeer.withHello((request, context) -> answer(splits, request, context))) {
      List<StreamEvent> events =
          Flux.from(
                  ShardedChangeStream.builder(server.url())
                      .collection("it", "c")
                      .startAtOperationTime(new BsonTimestamp(10))
                      .build()
                      .events())
              .filter(event -> !(event instanceof StreamEvent.Progress))
              .take(3)
              .collectList()
              .block(TIMEOUT);
      assertThat(((StreamEvent.Change) events.get(0)).token()).isEqualTo(BEFORE);
      if (splits) {
        StreamEvent.Change whole = (StreamEvent.Change) events.get(1);
        assertThat(whole.token()).isEqualTo(LARGE);
        assertThat(whole.document()).isEqualTo(large());
      } else {
        StreamEvent.TooLarge key = (StreamEvent.TooLarge) events.get(1);
        assertThat(key.event().getDocument("documentKey"))
            .isEqualTo(new BsonDocument("_id", new BsonInt32(2)));
      }
      assertThat(((StreamEvent.Change) events.get(2)).token()).isEqualTo(AFTER);
    }
    // The stream continues after the event's own token, without the stage that splits events.
    BsonDocument last = openings.get(openings.size() - 1);
    assertThat(last.getArray("pipeline")).hasSize(1);
    assertThat(
            last.getArray("pipeline")
                .get(0)
                .asDocument()
                .getDocument("$changeStream")
                .getDocument("startAfter"))
        .isEqualTo(new BsonDocument("_data", new BsonString(LARGE)));
  }

  private void answer(boolean splits, OpMsg request, ChannelHandlerContext context) {
    BsonDocument reply =
        switch (request.commandName()) {
          case "aggregate" -> {
            openings.add(BsonDocument.parse(request.body().toJson()));
            yield open(splits, request.body());
          }
          case "getMore" -> more(request.body().getInt64("getMore").getValue());
          default -> BsonDocument.parse("{ok: 1}");
        };
    ByteBuf out = context.alloc().buffer();
    request.reply(1, reply).encode(out);
    context.writeAndFlush(out);
  }

  /**
   * The id of the cursor decides its next reply: 1 for all events, 2 for one event, 3 for
   * fragments.
   */
  private static BsonDocument open(boolean splits, BsonDocument command) {
    BsonArray pipeline = command.getArray("pipeline");
    BsonDocument stage = pipeline.get(0).asDocument().getDocument("$changeStream");
    String after =
        stage
            .getDocument("startAfter", new BsonDocument())
            .getString("_data", new BsonString(""))
            .getValue();
    if (pipeline.size() == 1) {
      if (after.equals(LARGE)) {
        return batch(4, "firstBatch", List.of(event(AFTER, 3)));
      }
      return after.equals(BEFORE) ? tooLarge() : batch(1, "firstBatch", List.of(event(BEFORE, 1)));
    }
    if (pipeline.get(1).asDocument().containsKey("$project")) {
      return batch(2, "firstBatch", List.of(event(LARGE, 2)));
    }
    return splits
        ? batch(3, "firstBatch", List.of(fragment(1)))
        : BsonDocument.parse(
            "{ok: 0, code: 40324, codeName: 'Location40324', errmsg: \"Unrecognized pipeline stage"
                + " name: '$changeStreamSplitLargeEvent'\"}");
  }

  private static BsonDocument more(long cursor) {
    if (cursor == 1) {
      return tooLarge();
    }
    return cursor == 3
        ? batch(3, "nextBatch", List.of(fragment(2)))
        : batch(cursor, "nextBatch", List.of());
  }

  private static BsonDocument tooLarge() {
    return BsonDocument.parse(
        "{ok: 0, code: 10334, codeName: 'BSONObjectTooLarge', errmsg: 'BSONObj size is invalid'}");
  }

  private static BsonDocument batch(long id, String name, List<BsonDocument> events) {
    return new BsonDocument("ok", new BsonInt32(1))
        .append(
            "cursor",
            new BsonDocument("id", new BsonInt64(id))
                .append("ns", new BsonString("it.c"))
                .append(name, new BsonArray(events)));
  }

  private static BsonDocument event(String token, int key) {
    return new BsonDocument("_id", new BsonDocument("_data", new BsonString(token)))
        .append("operationType", new BsonString("replace"))
        .append("documentKey", new BsonDocument("_id", new BsonInt32(key)))
        .append("clusterTime", new BsonTimestamp(9L + key));
  }

  private static BsonDocument fragment(int number) {
    BsonDocument split =
        new BsonDocument("fragment", new BsonInt32(number)).append("of", new BsonInt32(2));
    BsonDocument fragment = number == 1 ? event(LARGE, 2) : new BsonDocument();
    return fragment
        .append("_id", new BsonDocument("_data", new BsonString(LARGE + "0" + number)))
        .append("splitEvent", split)
        .append(number == 1 ? "fullDocument" : "fullDocumentBeforeChange", new BsonInt32(number));
  }

  private static BsonDocument large() {
    return event(LARGE, 2)
        .append("fullDocument", new BsonInt32(1))
        .append("fullDocumentBeforeChange", new BsonInt32(2));
  }

  private static RawBsonDocument raw(String json) {
    return new RawBsonDocument(BsonDocument.parse(json), new BsonDocumentCodec());
  }

  private static String token(long time, int number) {
    return "82%016X2B022C0100296E5A%08X04".formatted(time, number);
  }
}
