package dev.onehop.jmh.routing;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.connection.TransportSettings;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;

/**
 * A cluster that is not there, as the official driver sees it through {@link StubChannel}: three
 * shards, each with a mongos beside it, and one collection of a thousand chunks.
 */
final class StubServers {
  static final int MONGOS_PORT = 27017;
  static final int SHARD_PORT = 27018;

  /** With all mongoses, so that plain clients and routed ones choose among as many. */
  private static final String URI = "mongodb://h0,h1,h2";

  static final int CHUNKS = 1_000;
  static final int SHARDS = 3;

  private static final byte[] LOOPBACK = {127, 0, 0, 1};
  private static final Map<String, List<BsonDocument>> CONFIG = config();

  private StubServers() {}

  /** The lower bound of a chunk, and a key in it. */
  static String key(int chunk) {
    return "user%04d".formatted(chunk);
  }

  /** Settings of an application, whose client knows all mongoses. */
  static MongoClientSettings settings(EventLoopGroup group) {
    return MongoClientSettings.builder()
        .applyConnectionString(new ConnectionString(URI))
        .inetAddressResolver(host -> List.of(named(host)))
        // Rarely, as it would be counted as the operations' garbage.
        .applyToServerSettings(server -> server.heartbeatFrequency(1, TimeUnit.HOURS))
        .transportSettings(
            TransportSettings.nettyBuilder()
                .eventLoopGroup(group)
                .socketChannelClass(StubChannel.class)
                .build())
        .build();
  }

  /** The documents of a collection of the database {@code config}. */
  static List<BsonDocument> config(String collection) {
    return CONFIG.getOrDefault(collection, List.of());
  }

  private static InetAddress named(String host) {
    try {
      return InetAddress.getByAddress(host, LOOPBACK);
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Map<String, List<BsonDocument>> config() {
    List<BsonDocument> shards = new ArrayList<>();
    List<BsonDocument> mongoses = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      shards.add(
          BsonDocument.parse("{_id: 's%d', host: 'rsh%d/h%d:%d'}".formatted(i, i, i, SHARD_PORT)));
      mongoses.add(
          BsonDocument.parse("{_id: 'h%d:%d', ping: {$date: 1000}}".formatted(i, MONGOS_PORT)));
    }
    BsonDocument collection =
        BsonDocument.parse(
            "{_id: 'ycsb.usertable', lastmodEpoch: {$oid: '000000000000000000000001'}, timestamp:"
                + " {$timestamp: {t: 1, i: 1}}, uuid: {$binary: {base64:"
                + " 'AAAAAAAAAAAAAAAAAAAAAA==', subType: '04'}}, key: {_id: 1}, unique: false}");
    List<BsonDocument> chunks = new ArrayList<>();
    for (int i = 0; i < CHUNKS; i++) {
      chunks.add(
          new BsonDocument("uuid", collection.get("uuid"))
              .append("min", bound(i, "{_id: {$minKey: 1}}"))
              .append("max", bound(i + 1, "{_id: {$maxKey: 1}}"))
              .append("shard", new BsonString("s" + i % SHARDS))
              .append("lastmod", new BsonTimestamp(1, i)));
    }
    return Map.of(
        "shards",
        shards,
        "mongos",
        mongoses,
        "version",
        List.of(
            BsonDocument.parse("{_id: 1, clusterId: {$oid: '0000000000000000000000aa'}}")
                .append("currentVersion", new BsonInt32(6))),
        "collections",
        List.of(collection),
        "chunks",
        chunks);
  }

  private static BsonDocument bound(int chunk, String end) {
    return chunk == 0 || chunk == CHUNKS
        ? BsonDocument.parse(end)
        : new BsonDocument("_id", new BsonString(key(chunk)));
  }
}
