package dev.onehop.shards.command;

import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.cluster.DriverRetries;
import dev.onehop.shards.cluster.Versions;
import dev.onehop.shards.request.CommandRouter;
import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.connection.WireSettings;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.LegacyHello;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireFrames;
import dev.onehop.wire.watch.ServerSet;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A config server and the shards {@code s0} and {@code s1}, which reply by the script of a test,
 * over real sockets. The collection {@code it.c} is sharded by {@code _id}. Documents with a
 * negative {@code _id} are on {@code s0}, all others on {@code s1}. A test may use the mongoses
 * {@code m0} and {@code m1} as seeds.
 */
public final class ScriptedCluster implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final String TABLE =
      """
      {collections: [{_id: 'it.c', lastmodEpoch: {$oid: '650000000000000000000001'},
         timestamp: {$timestamp: {t: 1, i: 1}}, key: {_id: 1},
         uuid: {$uuid: '00000000-0000-4000-8000-000000000001'}}],
       databases: [{_id: 'it', primary: 's0', version: {
         uuid: {$uuid: '00000000-0000-4000-8000-000000000002'},
         timestamp: {$timestamp: {t: 1, i: 1}}, lastMod: 1}}],
       chunks: [
         {_id: 1, min: {_id: {$minKey: 1}}, max: {_id: 0}, shard: 's0',
          lastmod: {$timestamp: {t: 1, i: 0}},
          uuid: {$uuid: '00000000-0000-4000-8000-000000000001'}},
         {_id: 2, min: {_id: 0}, max: {_id: {$maxKey: 1}}, shard: 's1',
          lastmod: {$timestamp: {t: 1, i: 1}},
          uuid: {$uuid: '00000000-0000-4000-8000-000000000001'}}]}
      """;

  /** In place of a reply: the server closes the connection. */
  public static final BsonDocument HANG_UP = BsonDocument.parse("{hangUp: 1}");

  /** Returns a server's reply to a command; null for the default reply. */
  public interface Script extends Function<BsonDocument, @Nullable BsonDocument> {}

  private record HeldBack(BsonDocument command, ChannelHandlerContext context, ByteBuf reply) {}

  private final EventLoopGroup group = EventLoops.newGroup("scripted-cluster", 1);
  private final Map<String, ScriptedPeer> peers = new TreeMap<>();
  private final Set<String> stopped = new TreeSet<>();
  private final Map<String, Script> scripts = new ConcurrentHashMap<>();
  private final Map<String, Predicate<BsonDocument>> held = new ConcurrentHashMap<>();
  private final List<HeldBack> heldBack = Collections.synchronizedList(new ArrayList<>());
  private final Map<String, Function<BsonDocument, Duration>> delays = new ConcurrentHashMap<>();
  private final List<BsonDocument> seen = Collections.synchronizedList(new ArrayList<>());
  private final int maxWireVersion;
  private final UnaryOperator<String> naming;
  private @Nullable Function<ClusterState, CommandRouter> routers;
  private @Nullable CommandRouter router;
  private @Nullable DriverRetries driver;
  private volatile String seed = "config";
  private volatile boolean selectsNone;
  private volatile boolean uuids;

  public ScriptedCluster(int maxWireVersion) {
    this(maxWireVersion, null);
  }

  /**
   * @param naming maps {@code config}, {@code s0} and {@code s1} to the names in the metadata; null
   *     for the servers' addresses
   */
  public ScriptedCluster(int maxWireVersion, @Nullable UnaryOperator<String> naming) {
    this.maxWireVersion = maxWireVersion;
    this.naming = naming == null ? name -> address(name).toString() : naming;
    for (String name : List.of("config", "m0", "m1", "s0", "s1")) {
      listen(name, 0);
    }
  }

  private void listen(String name, int port) {
    peers.put(
        name,
        ScriptedPeer.raw(
            port,
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new WireFrames(), new Answers(name));
              }
            }));
  }

  /** The address of a server. */
  public ServerAddressName address(String name) {
    return ServerAddressName.parse(peers.get(name).url().replaceFirst("mongodb://([^/]*).*", "$1"));
  }

  /** The router that executes the commands. */
  public synchronized CommandRouter router() {
    if (router == null) {
      Function<ClusterState, CommandRouter> factory =
          Objects.requireNonNull(routers, "routedBy comes first");
      ServerSet seeds = new OneServer(() -> address(seed), maxWireVersion);
      ServerSet.Factory watcher =
          set ->
              new OneServer(
                  () -> ServerAddressName.parse(set.replaceFirst(".*/", "")), maxWireVersion) {
                @Override
                public Mono<Server> select(@Nullable BsonDocument readPreference) {
                  return selectsNone ? Mono.empty() : super.select(readPreference);
                }
              };
      Connections connections =
          new Connections(group, WireSettings.plain(null, new BsonDocument(), Map.of()));
      router =
          factory.apply(
              new ClusterState(
                  seeds,
                  watcher,
                  connections,
                  new Refreshes(Duration.ofHours(1), RoutingCatalog.RefreshListener.NONE),
                  Versions.ATTACHED,
                  driver,
                  true));
    }
    return router;
  }

  /** Sets the router that executes the commands. Call this method before the first command. */
  public synchronized ScriptedCluster routedBy(Function<ClusterState, CommandRouter> router) {
    routers = router;
    return this;
  }

  /**
   * Makes the router treat all commands as commands of a driver, which retries them after a broken
   * connection. Call this method before the first command.
   */
  public synchronized ScriptedCluster underADriver() {
    driver = new DriverRetries(true, true);
    return this;
  }

  /**
   * Makes a mongos or the config server the seed. The router sends commands to the seed if no
   * single shard executes them.
   */
  public void seed(String server) {
    seed = server;
  }

  /**
   * Makes the router find no server of a shard: the selection completes empty, without an error.
   */
  public void selectNone() {
    selectsNone = true;
  }

  /**
   * Gives the shards UUIDs, as during an upgrade of a cluster. The database refers to its primary
   * shard {@code s0} by UUID, and a chunk refers to {@code s1} by UUID.
   */
  public ScriptedCluster withShardUuids() {
    uuids = true;
    return this;
  }

  private static BsonDocument uuid(String shard) {
    return BsonDocument.parse(
        "{uuid: {$uuid: '00000000-0000-4000-8000-00000000001" + shard.charAt(1) + "'}}");
  }

  /** Stops a server, and closes its connections. */
  public void stop(String server) {
    stopped.add(server);
    peers.get(server).close();
  }

  /** Starts a stopped server again, at the same address. */
  public void start(String server) {
    listen(server, address(server).port());
    stopped.remove(server);
  }

  /** Sets the script by which a server replies from now on. */
  public void script(String server, Script script) {
    scripts.put(server, script);
  }

  /** Makes a server keep back its replies to some commands until {@link #release} is called. */
  public void hold(String server, Predicate<BsonDocument> commands) {
    held.put(server, commands);
  }

  /** Sends the delayed replies, and delays no further replies. */
  public void release() {
    held.clear();
    List<HeldBack> answers;
    synchronized (heldBack) {
      answers = List.copyOf(heldBack);
      heldBack.clear();
    }
    answers.forEach(each -> each.context().writeAndFlush(each.reply()));
  }

  /** Closes the connections of commands whose replies are delayed. */
  public void cut(Predicate<BsonDocument> commands) {
    List<HeldBack> cut;
    synchronized (heldBack) {
      cut = heldBack.stream().filter(each -> commands.test(each.command())).toList();
      heldBack.removeAll(cut);
    }
    cut.forEach(
        each -> {
          each.reply().release();
          each.context().close();
        });
  }

  /** Delays each reply of a server by a duration from now on. */
  public void delay(String server, Function<BsonDocument, Duration> by) {
    delays.put(server, by);
  }

  /** Executes a command in relaxed JSON over the router. A failure is returned as a reply, too. */
  public BsonDocument execute(String command) {
    return executing(command).block(TIMEOUT);
  }

  /** Like {@link #execute}, but the command is executed when the caller subscribes. */
  public Mono<BsonDocument> executing(String command) {
    BsonDocument body = BsonDocument.parse(command);
    return router()
        .execute(OpMsg.command(body))
        .onErrorResume(
            failure -> Mono.just(CommandFailure.toReply(failure, body.containsKey("txnNumber"))));
  }

  /** The commands with a name that a server has received, in order. */
  public List<BsonDocument> seen(String server, String command) {
    synchronized (seen) {
      return seen.stream()
          .filter(
              each ->
                  each.getString("to").getValue().equals(server)
                      && each.getDocument("command").getFirstKey().equals(command))
          .map(each -> each.getDocument("command"))
          .toList();
    }
  }

  /** The commands that all servers have received, in order. */
  public List<BsonDocument> seen() {
    synchronized (seen) {
      return seen.stream().map(each -> each.getDocument("command")).toList();
    }
  }

  private BsonDocument answer(String server, OpMsg request) {
    BsonDocument command = new BsonDocument();
    command.putAll(request.body());
    for (String list : List.of("documents", "updates", "deletes")) {
      if (!command.containsKey(list) && !request.documents(list).isEmpty()) {
        command.put(list, new BsonArray(request.documents(list)));
      }
    }
    seen.add(new BsonDocument("to", new BsonString(server)).append("command", command));
    Script script = scripts.get(server);
    BsonDocument scripted = script == null ? null : script.apply(command);
    return scripted != null ? scripted : defaultReply(server, command);
  }

  private BsonDocument defaultReply(String server, BsonDocument command) {
    BsonDocument ok = BsonDocument.parse("{ok: 1}");
    return switch (command.getFirstKey()) {
      case "hello", "isMaster" -> hello(server);
      case "buildInfo" -> ok.append("version", new BsonString("6.0.5"));
      case "listDatabases" -> BsonDocument.parse("{databases: [], totalSize: 0, ok: 1}");
      case "insert" -> ok.append("n", new BsonInt32(command.getArray("documents").size()));
      case "listCollections" -> cursor(new BsonArray());
      case "update", "delete" -> ok.append("n", new BsonInt32(1));
      case "find", "aggregate" ->
          cursor(
              !isShard(server) && command.getString("$db").getValue().equals("config")
                  ? metadata(command.getString("find").getValue())
                  : new BsonArray(List.of(new BsonDocument("from", new BsonString(server)))));
      default -> ok;
    };
  }

  private static boolean isShard(String server) {
    return server.startsWith("s");
  }

  private BsonDocument hello(String server) {
    BsonDocument hello =
        new BsonDocument("ok", new BsonInt32(1))
            .append("helloOk", BsonBoolean.TRUE)
            .append("isWritablePrimary", BsonBoolean.TRUE)
            .append("ismaster", BsonBoolean.TRUE)
            .append("minWireVersion", new BsonInt32(0))
            .append("connectionId", new BsonInt32(1))
            .append("maxWireVersion", new BsonInt32(maxWireVersion))
            .append("maxBsonObjectSize", new BsonInt32(16 * 1024 * 1024))
            .append("maxMessageSizeBytes", new BsonInt32(48_000_000))
            .append("maxWriteBatchSize", new BsonInt32(100_000))
            .append("logicalSessionTimeoutMinutes", new BsonInt32(30))
            .append("localTime", new BsonDateTime(0));
    if (!isShard(server) && !server.equals("config")) {
      return hello.append("msg", new BsonString("isdbgrid"));
    }
    hello
        .append("secondary", BsonBoolean.FALSE)
        .append("setName", new BsonString(server))
        .append("setVersion", new BsonInt32(1))
        .append("hosts", new BsonArray(List.of(new BsonString(naming.apply(server)))))
        .append("primary", new BsonString(naming.apply(server)))
        .append("me", new BsonString(naming.apply(server)));
    return isShard(server) ? hello : hello.append("configsvr", new BsonInt32(2));
  }

  private BsonArray metadata(String collection) {
    BsonArray shards = new BsonArray();
    for (String name : List.of("s0", "s1")) {
      BsonDocument shard =
          new BsonDocument("_id", new BsonString(name))
              .append("host", new BsonString(name + "/" + naming.apply(name)));
      if (uuids) {
        shard.putAll(uuid(name));
      }
      shards.add(shard);
    }
    BsonDocument table = BsonDocument.parse(TABLE).append("shards", shards);
    if (uuids) {
      table.getArray("databases").get(0).asDocument().put("primary", uuid("s0").get("uuid"));
      table.getArray("chunks").get(1).asDocument().put("shard", uuid("s1").get("uuid"));
    }
    return table.getArray(collection, new BsonArray());
  }

  /**
   * The older metadata of the collection {@code it.c}, from a time when it was sharded by another
   * field.
   */
  public static BsonArray formerMetadata(String collection, String shardKey) {
    return BsonDocument.parse(
            TABLE
                .replace("{t: 1, i: 1}}, key: {_id", "{t: 0, i: 1}}, key: {" + shardKey)
                .replace("min: {_id", "min: {" + shardKey)
                .replace("max: {_id", "max: {" + shardKey))
        .getArray(collection, new BsonArray());
  }

  /** A script by which {@code it.c} is the only sharded collection. */
  public static @Nullable BsonDocument othersUnsharded(BsonDocument command) {
    return new BsonString("collections").equals(command.get("find"))
            && !command.getDocument("filter").equals(BsonDocument.parse("{_id: 'it.c'}"))
        ? cursor(new BsonArray())
        : null;
  }

  public static BsonDocument cursor(BsonArray batch) {
    return new BsonDocument(
            "cursor",
            new BsonDocument("firstBatch", batch)
                .append("id", new BsonInt64(0))
                .append("ns", new BsonString("it.c")))
        .append("ok", new BsonInt32(1));
  }

  /** A first batch with one document, of a cursor that is still open. */
  public static BsonDocument openCursor(long id) {
    BsonDocument answer = cursor(new BsonArray(List.of(new BsonDocument("_id", new BsonInt32(1)))));
    answer.getDocument("cursor").put("id", new BsonInt64(id));
    return answer;
  }

  @Override
  public void close() {
    if (router != null) {
      router.close();
    }
    peers.keySet().removeAll(stopped);
    cut(any -> true);
    peers.values().forEach(ScriptedPeer::close);
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private final class Answers extends SimpleChannelInboundHandler<ByteBuf> {
    private final String server;

    Answers(String server) {
      this.server = server;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
      if (LegacyHello.is(frame)) {
        ByteBuf reply = context.alloc().buffer();
        LegacyHello.reply(frame, 1, hello(server), reply);
        write(context, reply, BsonDocument.parse("{hello: 1, $db: 'admin'}"));
        return;
      }
      OpMsg request = OpMsg.decode(frame);
      BsonDocument answer = answer(server, request);
      if (answer.equals(HANG_UP)) {
        context.close();
      } else if ((request.flags() & OpMsg.MORE_TO_COME) == 0) {
        ByteBuf reply = context.alloc().buffer();
        request.reply(1, answer).encode(reply);
        write(context, reply, request.body());
      }
    }

    private void write(ChannelHandlerContext context, ByteBuf reply, BsonDocument command) {
      Predicate<BsonDocument> commands = held.get(server);
      if (commands != null && commands.test(command)) {
        heldBack.add(new HeldBack(command, context, reply));
        return;
      }
      Duration delay = delays.getOrDefault(server, each -> Duration.ZERO).apply(command);
      context
          .executor()
          .schedule(() -> context.writeAndFlush(reply), delay.toNanos(), TimeUnit.NANOSECONDS)
          .addListener(
              ended -> {
                // The cluster is closed.
                if (ended.isCancelled()) {
                  reply.release();
                }
              });
    }
  }

  private static class OneServer implements ServerSet {
    private final Supplier<ServerAddressName> name;
    private final int maxWireVersion;

    OneServer(Supplier<ServerAddressName> name, int maxWireVersion) {
      this.name = name;
      this.maxWireVersion = maxWireVersion;
    }

    @Override
    public Server primary() {
      return new Server(name.get(), maxWireVersion);
    }

    @Override
    public Mono<Server> select(@Nullable BsonDocument readPreference) {
      return Mono.just(primary());
    }

    @Override
    public void close() {}
  }
}
