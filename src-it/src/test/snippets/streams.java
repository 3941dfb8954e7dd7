import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.channel.ChangeChannels;
import dev.onehop.streams.channel.ChannelGroup;
import dev.onehop.streams.channel.ChannelSink;
import dev.onehop.streams.channel.FencedSink;
import dev.onehop.streams.channel.SnapshotThenStream;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.mirror.MirrorWrites;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

abstract class Streams {
  abstract void handle(RawBsonDocument event);

  abstract Publisher<Void> store(BsonDocument checkpoint);

  abstract Publisher<Void> write(List<StreamEvent.Change> changes);

  void events() {
    /* 1 */
  }

  Publisher<?> channels(ShardedChangeStream stream) {
    return /* 2 */;
  }

  void fencedSink(ShardedChangeStream stream, MongoClient client) {
    /* 3 */
  }

  Publisher<Void> snapshotThenStream(
      ChannelGroup group, MongoClient source, FencedSink fencedSink) {
    return /* 4 */;
  }
}
