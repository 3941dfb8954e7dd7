package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.CallerRunsEventLoop;
import dev.onehop.wire.connection.WireSettings.PoolLimits;
import dev.onehop.wire.connection.WireSettings.Sharing;
import dev.onehop.wire.message.OpMsg;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Shared connections to a simulated server. A test controls each step of the server, and its clock.
 */
final class SimulatedLinks implements SharedConnections.Pool, Exchange.Pool, AutoCloseable {
  static final ServerAddressName SERVER = new ServerAddressName("simulated", 27017);

  final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
  final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  final SharingMeters meters = new SharingMeters(registry, "simulated", () -> 0);
  final SharedConnections shared;

  /** All connections, open or closed. */
  final List<SimulatedLink> links = new ArrayList<>();

  final Deque<Sinks.One<SharedTransport>> opening = new ArrayDeque<>();

  /** The requests that have a separate connection. */
  final Deque<Exchange> own = new ArrayDeque<>();

  private final EmbeddedChannel loop = new EmbeddedChannel();
  private int roomForOwn = 100;
  private boolean authenticates;
  private int generation;
  long now = 1;

  SimulatedLinks(int connections, int maxInFlight) {
    this.shared =
        new SharedConnections(
            SERVER,
            new CallerRunsEventLoop(loop.eventLoop()),
            new PoolLimits(100, 0, 2, Duration.ofMinutes(2), Duration.ZERO, Duration.ofMinutes(30)),
            new Sharing(connections, maxInFlight, 1 << 18, registry),
            meters,
            this,
            this::open,
            () -> now);
  }

  private Mono<SharedTransport> open() {
    Sinks.One<SharedTransport> one = Sinks.one();
    opening.add(one);
    return one.asMono();
  }

  /** Makes the server require authentication. */
  void authenticate() {
    authenticates = true;
  }

  /** Sets the number of requests that may have a separate connection. */
  void roomForOwn(int requests) {
    roomForOwn = requests;
  }

  /** Completes the oldest opening. */
  SimulatedLink opened() {
    SimulatedLink link = new SimulatedLink(authenticates);
    Sinks.One<SharedTransport> one = opening.remove();
    if (one.currentSubscriberCount() > 0) {
      links.add(link);
      one.tryEmitValue(link);
    } else {
      // A connection whose opening is cancelled is closed.
      link.close();
    }
    return link;
  }

  void openAll() {
    while (!opening.isEmpty()) {
      opened();
    }
  }

  void refuseOldest() {
    opening.remove().tryEmitError(new IOException("refused"));
  }

  /** Opens as many connections as are allowed. */
  void openAllowed() {
    List<Request> requests = new ArrayList<>();
    for (int n = 0; n < 20; n++) {
      requests.add(send("ping"));
      openAll();
    }
    answerAll();
    requests.forEach(Request::assertAnswered);
  }

  List<SimulatedLink> open(boolean busy) {
    return links.stream().filter(l -> l.isOpen() && l.pending.isEmpty() != busy).toList();
  }

  void answerAll() {
    for (boolean any = true; any; ) {
      any = false;
      openAll();
      for (SimulatedLink link : List.copyOf(links)) {
        while (!link.pending.isEmpty()) {
          link.answer();
          any = true;
        }
      }
    }
  }

  void advanceClock(Duration time) {
    now += time.toNanos();
    shared.sweep();
  }

  Request send(String command) {
    return send(command, use(command));
  }

  /** The kind of connection, by the sharing rules, for the simplest form of a command. */
  static SharingRules.Use use(String command) {
    return command.equals("find") || command.equals("ping")
        ? SharingRules.Use.QUICK
        : SharingRules.Use.MAY_WAIT;
  }

  Request send(String command, SharingRules.Use use) {
    Request request = new Request(command);
    ByteBuf message = allocator.buffer();
    OpMsg.command(
            new BsonDocument(command, new BsonInt32(1))
                .append("tag", new BsonString(request.toString())))
        .encode(message);
    request.exchange = new Exchange(this, message, true, use, request);
    shared.take(request.exchange);
    return request;
  }

  /** A request and its outcome. */
  static final class Request implements Exchange.Outcome {
    final String command;
    @Nullable Exchange exchange;
    @Nullable String answer;
    @Nullable Throwable failure;
    boolean cancelled;

    Request(String command) {
      this.command = command;
    }

    boolean isPending() {
      return answer == null && failure == null && !cancelled;
    }

    void assertAnswered() {
      if (!toString().equals(answer)) {
        throw new AssertionError(this + " got " + answer, failure);
      }
    }

    boolean cancel() {
      cancelled = exchange != null && exchange.cancel();
      return cancelled;
    }

    @Override
    public void replied(ByteBuf message) {
      assertPending();
      BsonDocument body = OpMsg.decode(message.duplicate()).body();
      answer =
          body.containsKey("tag")
              ? body.getString("tag").getValue()
              : "code " + body.getInt32("code").getValue();
    }

    @Override
    public void sent() {
      throw new AssertionError("it expects an answer");
    }

    @Override
    public void failed(Throwable cause) {
      assertPending();
      failure = cause;
    }

    private void assertPending() {
      if (!isPending()) {
        throw new AssertionError(this + " ends twice");
      }
    }

    @Override
    public String toString() {
      return command + "@" + System.identityHashCode(this);
    }
  }

  /** A connection whose requests a test answers in their order. */
  final class SimulatedLink implements SharedTransport {
    final Deque<Sent> pending = new ArrayDeque<>();
    private final boolean authenticates;
    private boolean open = true;
    private boolean writable = true;
    private long unsent;
    private @Nullable Runnable whenClosed;
    private @Nullable Runnable whenWritable;

    SimulatedLink(boolean authenticates) {
      this.authenticates = authenticates;
    }

    /** A request that the server has received. */
    record Sent(String command, String tag, ReplyHandler handler) {}

    @Override
    public void send(ByteBuf message, @Nullable ReplyHandler handler) {
      BsonDocument body = OpMsg.decode(message.duplicate()).body();
      message.release();
      if (handler == null) {
        throw new AssertionError("what expects no answer does not share");
      }
      if (!open) {
        handler.failed(new IOException("closed"));
        return;
      }
      pending.add(new Sent(body.getFirstKey(), body.getString("tag").getValue(), handler));
    }

    void answer() {
      Sent next = pending.remove();
      reply(
          next, new BsonDocument("ok", new BsonInt32(1)).append("tag", new BsonString(next.tag())));
    }

    void answer(int code) {
      reply(
          pending.remove(),
          new BsonDocument("ok", new BsonInt32(0)).append("code", new BsonInt32(code)));
    }

    private void reply(Sent request, BsonDocument body) {
      ByteBuf reply = allocator.buffer();
      OpMsg.replyTo(1, 1, body).encode(reply);
      request.handler().replied(reply);
      reply.release();
    }

    @Override
    public boolean isOpen() {
      return open;
    }

    @Override
    public boolean isWritable() {
      return writable;
    }

    void writable(boolean now) {
      writable = now;
      if (now && whenWritable != null) {
        whenWritable.run();
      }
    }

    @Override
    public long unsentBytes() {
      return unsent;
    }

    void unsent(long bytes) {
      unsent = bytes;
    }

    @Override
    public boolean authenticates() {
      return authenticates;
    }

    @Override
    public void whenClosed(Runnable action) {
      whenClosed = action;
    }

    @Override
    public void whenWritable(Runnable action) {
      whenWritable = action;
    }

    @Override
    public void close() {
      abort(new IOException("closed"));
    }

    @Override
    public void abort(IOException why) {
      if (!open) {
        return;
      }
      open = false;
      for (Sent next = pending.poll(); next != null; next = pending.poll()) {
        next.handler().failed(why);
      }
      if (whenClosed != null) {
        whenClosed.run();
      }
    }
  }

  @Override
  public int generation() {
    return generation;
  }

  @Override
  public boolean hasRoom() {
    return own.size() < roomForOwn;
  }

  @Override
  public void takeOwn(Exchange exchange) {
    own.add(exchange);
  }

  /** Replies to the requests on separate connections. */
  void answerOwn() {
    Exchange exchange = own.remove();
    ByteBuf message = exchange.begin(false);
    if (message == null) {
      return;
    }
    BsonDocument body =
        new BsonDocument("ok", new BsonInt32(1))
            .append("tag", OpMsg.decode(message.duplicate()).body().getString("tag"));
    message.release();
    ByteBuf reply = allocator.buffer();
    OpMsg.replyTo(1, 1, body).encode(reply);
    exchange.answered(reply);
    reply.release();
  }

  @Override
  public void clear(int born) {
    if (born == generation) {
      generation++;
      shared.clear(generation, null);
    }
  }

  void reset(IOException why) {
    generation++;
    shared.clear(generation, why);
  }

  @Override
  public boolean isShared() {
    return true;
  }

  @Override
  public void forget(Exchange exchange) {
    own.remove(exchange);
    shared.forget(exchange);
  }

  @Override
  public void giveBack(WireConnection connection) {
    throw new AssertionError("there are only shared connections");
  }

  @Override
  public void broken(WireConnection connection) {
    throw new AssertionError("there are only shared connections");
  }

  double meter(String name, String... tags) {
    return registry.get(name).tags(tags).meter().measure().iterator().next().getValue();
  }

  @Override
  public void close() {
    shared.close();
    answerAll();
    while (!own.isEmpty()) {
      answerOwn();
    }
    loop.close();
    if (allocator.metric().usedHeapMemory() + allocator.metric().usedDirectMemory() > 0) {
      throw new AssertionError("a buffer is lost");
    }
  }
}
