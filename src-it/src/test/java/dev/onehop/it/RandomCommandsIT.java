package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.it.clients.Mode;
import dev.onehop.it.clients.RoutedModes;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Commands with random values: each gets a reply, and no reply is an internal error. */
@ShardedCluster
class RandomCommandsIT {
  private static final int TIMEOUT_SECONDS = 10;
  private static final int COMMANDS = Integer.getInteger("onehop.it.random.commands", 500);
  private static final int MESSAGES = Integer.getInteger("onehop.it.random.messages", 200);
  private static final int INTERNAL_ERROR = 1;
  private static final int NO_REPLY = -1;

  private static final List<String> COMMANDS_TO_CHANGE =
      List.of(
          "{find: 'random', filter: {_id: {$gte: 5}}, sort: {n: 1}, projection: {n: 1}, skip: 3,"
              + " limit: 10, batchSize: 2, singleBatch: false, allowPartialResults: false,"
              + " collation: {locale: 'simple'}, let: {a: 1}, noCursorTimeout: false}",
          "{find: 'random', filter: {_id: 5}, hint: {_id: 1}, max: {_id: 9}, min: {_id: 1}}",
          "{aggregate: 'random', pipeline: [{$match: {n: {$gte: 5}}}, {$skip: 1}, {$limit: 5},"
              + " {$group: {_id: 1, n: {$sum: 1}}}], cursor: {batchSize: 5}, let: {a: 1}}",
          "{aggregate: 'random', pipeline: [{$match: {_id: 5}}, {$project: {n: 1}}, {$facet: {a:"
              + " [{$limit: 1}]}}], cursor: {batchSize: 5}, collation: {locale: 'simple'}}",
          "{aggregate: 1, pipeline: [{$changeStream: {startAtOperationTime: {$timestamp: {t: 1, i:"
              + " 1}}}}], cursor: {}}",
          "{aggregate: 'random', pipeline: [{$changeStream: {resumeAfter: {_data: '8263'}}},"
              + " {$match: {}}], cursor: {}}",
          "{count: 'random', query: {n: {$gte: 5}}, skip: 1, limit: 5}",
          "{distinct: 'random', key: 'n', query: {n: {$gte: 5}}}",
          "{findAndModify: 'random', query: {_id: 5}, update: {$inc: {x: 1}}, new: true, upsert:"
              + " false, fields: {n: 1}, sort: {n: 1}}",
          "{insert: 'random', documents: [{_id: 5}, {_id: 250}], ordered: true}",
          "{update: 'random', updates: [{q: {_id: 5}, u: {$inc: {x: 1}}, multi: false, upsert:"
              + " false}, {q: {n: 250}, u: {$inc: {x: 1}}, multi: true, collation: {locale:"
              + " 'simple'}}], ordered: false, let: {a: 1}}",
          "{delete: 'random', deletes: [{q: {_id: 5000}, limit: 1}, {q: {n: -1}, limit: 0}],"
              + " ordered: false}",
          "{getMore: {$numberLong: '5'}, collection: 'random', batchSize: 3, maxTimeMS: 5}",
          "{killCursors: 'random', cursors: [{$numberLong: '5'}, {$numberLong: '6'}]}",
          "{explain: {find: 'random', filter: {_id: 5}, limit: 3}, verbosity: 'queryPlanner'}",
          "{explain: {aggregate: 'random', pipeline: [{$match: {n: 5}}], cursor: {}}}",
          "{explain: {update: 'random', updates: [{q: {_id: 5}, u: {$set: {x: 1}}}]}}",
          "{explain: {delete: 'random', deletes: [{q: {_id: 5}, limit: 1}]}}",
          "{listIndexes: 'random', cursor: {batchSize: 1}}",
          "{listCollections: 1, filter: {name: 'random'}, nameOnly: true, cursor: {}}",
          "{find: 'random', filter: {}, readConcern: {level: 'local'}, $readPreference: {mode:"
              + " 'nearest', tags: [{}], maxStalenessSeconds: 120}, maxTimeMS: 1000}",
          "{find: 'random', filter: {_id: 5}, readConcern: {level: 'snapshot'}}",
          "{insert: 'random', documents: [{_id: 5}], writeConcern: {w: 1, j: false, wtimeout: 5}}",
          "{endSessions: [{id: {$uuid: '00000000-0000-4000-8000-000000000001'}}]}",
          "{refreshSessions: [{id: {$uuid: '00000000-0000-4000-8000-000000000001'}}]}",
          "{killSessions: [{id: {$uuid: '00000000-0000-4000-8000-000000000001'}}]}");

  private static final List<String> VALUES =
      List.of(
          "5",
          "-1",
          "0",
          "1.5",
          "'x'",
          "''",
          "null",
          "true",
          "false",
          "{}",
          "[]",
          "[5]",
          "[{}]",
          "{a: 1}",
          "{$match: 5}",
          "{id: 5}",
          "{level: 5}",
          "{mode: 5}",
          "{mode: 'x'}",
          "{w: 'x'}",
          "{$numberLong: '-9223372036854775808'}",
          "{$numberLong: '9223372036854775807'}",
          "{$numberDouble: 'NaN'}",
          "{$numberDouble: '-Infinity'}",
          "{$numberDecimal: '1E+6000'}",
          "{$numberDecimal: '-0'}",
          "{$minKey: 1}",
          "{$maxKey: 1}",
          "{$undefined: true}",
          "{$oid: '650000000000000000000001'}",
          "{$timestamp: {t: 1, i: 1}}",
          "{$date: {$numberLong:" + " '-1'}}",
          "{$binary: {base64: 'AAAA', subType: '00'}}",
          "{$regularExpression: {pattern: 'a', options: ''}}",
          "{$code: 'x'}",
          "{$symbol: 's'}",
          "{$uuid: '00000000-0000-4000-8000-000000000001'}");

  private static SharedCluster cluster;

  @BeforeAll
  static void start(SharedCluster shared) {
    cluster = shared;
    cluster.shardCollection("random", Numbered.KEY, Numbered.splitAt(100, 200));
    try (MongoClient client = MongoClients.create(cluster.url())) {
      client
          .getDatabase(cluster.database())
          .getCollection("random")
          .insertMany(Numbered.documents(300));
    }
  }

  @RoutedModes(mode = {RoutingMode.NONE, RoutingMode.DIRECT})
  void repliesToRandomCommands(Mode mode) throws InterruptedException {
    Map<Integer, Integer> codes = new TreeMap<>();
    List<String> faults = new ArrayList<>();
    ExecutorService executor = Executors.newCachedThreadPool();
    try (MongoClient client = mode.client(cluster.url())) {
      for (int i = 0; i < COMMANDS; i++) {
        BsonDocument command = changed(new Random(i));
        int code = code(executor.submit(() -> code(client, command)), command);
        codes.merge(code, 1, Integer::sum);
        if (code == INTERNAL_ERROR || code == NO_REPLY) {
          faults.add(code + ": " + command.toJson());
        }
      }
    } finally {
      executor.shutdownNow();
    }
    System.out.println("codes of " + COMMANDS + " random commands: " + codes);
    assertThat(faults).isEmpty();
  }

  private static int code(Future<Integer> reply, BsonDocument command) throws InterruptedException {
    try {
      return reply.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      return NO_REPLY;
    } catch (ExecutionException e) {
      throw new AssertionError("the answer to " + command.toJson(), e.getCause());
    }
  }

  private static int code(MongoClient client, BsonDocument command) {
    String database = command.getFirstKey().endsWith("Sessions") ? "admin" : cluster.database();
    try {
      client.getDatabase(database).runCommand(command);
      return 0;
    } catch (MongoCommandException e) {
      return e.getErrorCode();
    }
  }

  /** A command in which some values, also nested ones, are replaced or removed. */
  private static BsonDocument changed(Random random) {
    String chosen = COMMANDS_TO_CHANGE.get(random.nextInt(COMMANDS_TO_CHANGE.size()));
    BsonDocument command = BsonDocument.parse(chosen);
    for (int i = 0; i <= random.nextInt(3); i++) {
      change(command, random);
    }
    return command;
  }

  private static void change(BsonDocument document, Random random) {
    List<String> fields = List.copyOf(document.keySet());
    if (fields.isEmpty()) {
      return;
    }
    String field = fields.get(random.nextInt(fields.size()));
    BsonValue value = document.get(field);
    if (value.isDocument() && random.nextBoolean()) {
      change(value.asDocument(), random);
    } else if (value.isArray() && !value.asArray().isEmpty() && random.nextBoolean()) {
      BsonArray array = value.asArray();
      int at = random.nextInt(array.size());
      if (array.get(at).isDocument() && random.nextInt(3) > 0) {
        change(array.get(at).asDocument(), random);
      } else {
        array.set(at, any(random));
      }
    } else if (random.nextInt(8) == 0 && !field.equals(document.getFirstKey())) {
      document.remove(field);
    } else {
      document.put(field, any(random));
    }
  }

  private static BsonValue any(Random random) {
    return BsonDocument.parse("{v: " + VALUES.get(random.nextInt(VALUES.size())) + "}").get("v");
  }

  /**
   * After a message with wrong bytes, the router replies or closes the connection, as servers do.
   */
  @Test
  void brokenMessagesGetReplyOrCloseConnection() throws IOException {
    String[] address = cluster.testbed().mongosAddresses().get(0).split(":", 2);
    List<String> unanswered = new ArrayList<>();
    for (int i = 0; i < MESSAGES; i++) {
      Random random = new Random(i);
      byte[] message = broken(random);
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(address[0], Integer.parseInt(address[1])), 5_000);
        socket.setSoTimeout(10_000);
        socket.getOutputStream().write(message);
        socket.getOutputStream().flush();
        if (ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN).getInt() > message.length) {
          // The header announces more bytes than were sent, so the router would wait for them.
          socket.shutdownOutput();
        }
        InputStream in = socket.getInputStream();
        try {
          in.read();
        } catch (SocketTimeoutException e) {
          unanswered.add(i + ": " + HexFormat.of().formatHex(message));
        } catch (IOException e) {
          // Expected: the router has closed the connection.
        }
      }
    }
    assertThat(unanswered).isEmpty();
  }

  private static byte[] broken(Random random) {
    BsonDocument command = changed(random);
    command.put("$db", new BsonString(cluster.database()));
    byte[] body = bytes(command);
    ByteBuffer message = ByteBuffer.allocate(21 + body.length).order(ByteOrder.LITTLE_ENDIAN);
    message.putInt(21 + body.length).putInt(7).putInt(0).putInt(2013).putInt(0).put((byte) 0);
    message.put(body);
    for (int i = 0; i <= random.nextInt(4); i++) {
      // Changes any byte from the op code on, except the flags. One of the flags would request that
      // the router sends no reply.
      int at = random.nextInt(message.capacity() - 12) + 12;
      if (at < 16 || at > 19) {
        message.put(at, (byte) random.nextInt(256));
      }
    }
    return message.array();
  }

  private static byte[] bytes(BsonDocument document) {
    ByteBuffer buffer =
        new RawBsonDocument(document, new BsonDocumentCodec()).getByteBuffer().asNIO();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }
}
