package dev.onehop.copy.internal.cluster;

import dev.onehop.routing.RoutingMode;
import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.message.LegacyHello;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireFrames;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.json.JsonMode;
import org.bson.json.JsonWriterSettings;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * A replica set of one scripted member, over real sockets. It stores documents, and records the
 * commands that it has received. As a server does, it refuses a transaction number below the
 * highest number of the session. Thread-safe.
 */
public final class ScriptedReplicaSet implements AutoCloseable {
  /** A result of a {@link Script} that makes the server close the connection without a reply. */
  public static final BsonDocument HANG_UP = BsonDocument.parse("{hangUp: 1}");

  private static final JsonWriterSettings EXTENDED =
      JsonWriterSettings.builder().outputMode(JsonMode.EXTENDED).build();

  /** Returns the server's reply to a command; null for the usual reply. */
  public interface Script extends Function<BsonDocument, @Nullable BsonDocument> {}

  private final int maxWireVersion;
  private final String compatibility;
  private final ScriptedPeer peer;
  private final ScriptedDocuments documents = new ScriptedDocuments(); // guarded by this
  private final Map<BsonDocument, Long> numbers = new HashMap<>(); // guarded by this
  private final List<BsonDocument> seen = new ArrayList<>(); // guarded by this
  private volatile Script script = command -> null;
  private final AtomicInteger elections = new AtomicInteger(1);
  private volatile boolean mongos;
  private volatile @Nullable BsonDocument clusterTime;

  /** Creates a replica set that behaves like MongoDB 6.0. */
  public ScriptedReplicaSet() {
    this(17, "6.0");
  }

  /**
   * @param maxWireVersion the wire version that {@code hello} returns
   * @param compatibility the feature compatibility version
   */
  public ScriptedReplicaSet(int maxWireVersion, String compatibility) {
    this.maxWireVersion = maxWireVersion;
    this.compatibility = compatibility;
    this.peer =
        ScriptedPeer.raw(
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                int port = ((InetSocketAddress) channel.localAddress()).getPort();
                channel.pipeline().addLast(new WireFrames(), new Answers(port));
              }
            });
  }

  /** The connection string of the replica set. */
  public String url() {
    return peer.url().replace("directConnection=true", "");
  }

  /** Connects to the replica set, as a copy connects to one of its clusters. */
  public ClusterEnd connect(String role) {
    try {
      return ClusterEnd.connect(role, url(), settings -> {}, RoutingMode.NONE, 1);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Sets the replies to all later commands except {@code hello}. */
  public void script(Script answers) {
    script = answers;
  }

  /**
   * Makes this server a mongos of a sharded cluster. The metadata are documents that a test stores.
   */
  public ScriptedReplicaSet asMongos() {
    mongos = true;
    return this;
  }

  /** Sets the cluster time in the reply to {@code hello}. */
  public void clusterTime(BsonTimestamp time) {
    clusterTime = new BsonDocument("clusterTime", time);
  }

  /** Simulates an election that the same member wins. */
  public void elect() {
    elections.incrementAndGet();
  }

  /** Sets the server's clock. */
  public synchronized void now(long millis) {
    documents.now(millis);
  }

  /**
   * Stores documents.
   *
   * @param json the documents in relaxed JSON
   */
  public synchronized void store(String namespace, String... json) {
    for (String each : json) {
      documents.of(namespace).add(BsonDocument.parse(each));
    }
  }

  /** Stores a document. */
  public synchronized void store(String namespace, BsonDocument document) {
    documents.of(namespace).add(document.clone());
  }

  /** Removes the documents of a collection. */
  public synchronized void clear(String namespace) {
    documents.of(namespace).clear();
  }

  /** The documents of a collection, in the order of insertion. */
  public synchronized List<BsonDocument> stored(String namespace) {
    return documents.of(namespace).stream().map(BsonDocument::clone).toList();
  }

  /** The received commands with a name, in order. */
  public synchronized List<BsonDocument> seen(String command) {
    return seen.stream().filter(each -> each.getFirstKey().equals(command)).toList();
  }

  /** The received commands with a name, without the fields that drivers add. */
  public List<BsonDocument> asWritten(String command) {
    List<BsonDocument> all = new ArrayList<>();
    for (BsonDocument each : seen(command)) {
      BsonDocument own = each.clone();
      List.of("$db", "lsid", "txnNumber", "$clusterTime", "$readPreference").forEach(own::remove);
      all.add(own);
    }
    return all;
  }

  private BsonDocument answer(OpMsg request, int port) {
    BsonDocument command = new BsonDocument();
    command.putAll(request.body());
    for (String list : List.of("documents", "updates", "deletes")) {
      if (!command.containsKey(list) && !request.documents(list).isEmpty()) {
        command.put(list, new BsonArray(request.documents(list)));
      }
    }
    // Converted to plain documents, so that tests can compare them with other documents.
    BsonDocument plain = BsonDocument.parse(command.toJson(EXTENDED));
    synchronized (this) {
      seen.add(plain);
    }
    if (List.of("hello", "isMaster").contains(plain.getFirstKey())) {
      return hello(port);
    }
    BsonDocument scripted = script.apply(plain);
    return scripted != null ? scripted : behaved(plain);
  }

  private synchronized BsonDocument behaved(BsonDocument command) {
    String database = command.getString("$db").getValue();
    if (command.containsKey("txnNumber")) {
      long number = command.getInt64("txnNumber").getValue();
      Long highest = numbers.get(command.getDocument("lsid"));
      if (highest != null && number < highest) {
        return BsonDocument.parse(
            "{ok: 0, code: 225, codeName: 'TransactionTooOld', errmsg: 'an older number'}");
      }
      if (highest != null && number == highest && !command.getFirstKey().equals("update")) {
        return BsonDocument.parse("{ok: 1, n: 1}");
      }
      numbers.put(command.getDocument("lsid"), number);
    }
    return switch (command.getFirstKey()) {
      case "find" ->
          isOfCompatibility(command) ? compatibility() : documents.find(database, command);
      case "getMore" -> documents.more(database, command);
      case "insert" -> documents.insert(database, command);
      case "update" -> documents.update(database, command);
      case "delete" -> documents.delete(database, command);
      case "findAndModify" -> documents.findAndModify(database, command);
      case "listCollections", "listIndexes" -> cursor();
      default -> BsonDocument.parse("{ok: 1}");
    };
  }

  private static boolean isOfCompatibility(BsonDocument command) {
    return new BsonString("featureCompatibilityVersion")
        .equals(command.getDocument("filter", new BsonDocument()).get("_id"));
  }

  private BsonDocument compatibility() {
    return cursor("{_id: 'featureCompatibilityVersion', version: '%s'}".formatted(compatibility));
  }

  /**
   * A reply with all documents of a cursor.
   *
   * @param json the documents in relaxed JSON
   */
  public static BsonDocument cursor(String... json) {
    return BsonDocument.parse(
        "{ok: 1, cursor: {id: NumberLong(0), ns: 'd.c', firstBatch: [%s]}}"
            .formatted(String.join(", ", json)));
  }

  private BsonDocument hello(int port) {
    BsonDocument hello =
        BsonDocument.parse(
            """
            {ok: 1, helloOk: true, isWritablePrimary: true, ismaster: true, minWireVersion: 0,
             maxWireVersion: %d, setName: 'rs', me: '127.0.0.1:%d', primary: '127.0.0.1:%2$d',
             hosts: ['127.0.0.1:%2$d'], maxBsonObjectSize: 16777216, setVersion: 1,
             maxMessageSizeBytes: 48000000, maxWriteBatchSize: 100000,
             logicalSessionTimeoutMinutes: 30}
            """
                .formatted(maxWireVersion, port));
    if (clusterTime != null) {
      hello.append("$clusterTime", clusterTime);
    }
    if (mongos) {
      List.of("setName", "setVersion", "hosts", "me", "primary").forEach(hello::remove);
      return hello.append("msg", new BsonString("isdbgrid"));
    }
    return hello.append(
        "electionId", new BsonObjectId(new ObjectId("%024x".formatted(elections.get()))));
  }

  @Override
  public void close() {
    peer.close();
  }

  private final class Answers extends SimpleChannelInboundHandler<ByteBuf> {
    private final int port;

    Answers(int port) {
      this.port = port;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
      ByteBuf reply = context.alloc().buffer();
      if (LegacyHello.is(frame)) {
        LegacyHello.reply(frame, 1, hello(port), reply);
        context.writeAndFlush(reply);
        return;
      }
      OpMsg request = OpMsg.decode(frame);
      BsonDocument answer = answer(request, port);
      if (answer.equals(HANG_UP)) {
        reply.release();
        context.close();
      } else if ((request.flags() & OpMsg.MORE_TO_COME) == 0) {
        request.reply(1, answer).encode(reply);
        context.writeAndFlush(reply);
      } else {
        reply.release();
      }
    }
  }
}
