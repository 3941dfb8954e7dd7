package dev.onehop.routing.internal.transport;

import dev.onehop.routing.internal.transport.SharingRules.Use;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Hellos and authentication of one pool.
 *
 * <p>The first hello on a socket goes out whole, from the lane that founds the socket; the socket
 * is shared once that lane is authenticated. A later lane's hello is sent without what a socket
 * takes only once (client metadata, or it is error 186) and without speculative authentication, so
 * that the driver still measures a real round trip, and its reply is completed from the first. Its
 * SCRAM conversation then runs on one socket, and one at a time: a second {@code saslStart} would
 * replace the first. Where a socket authenticates only once, each lane opens one to prove who it
 * is, and what is not needed of these is closed after that.
 */
final class Handshakes {
  /**
   * What goes out with a socket's first hello only. To ask for the mechanisms again would end a
   * conversation that another lane has on the socket (seen on 6.0.5).
   */
  private static final Set<String> ONCE_PER_SOCKET =
      Set.of("client", "compression", "speculativeAuthenticate", "saslSupportedMechs");

  /** What a later lane is told as the first one was. */
  private static final Set<String> SAME_FOR_ALL = Set.of("compression", "saslSupportedMechs");

  /** How long the transport leaves a server alone that took no further socket. */
  private static final long GROW_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final SocketPool pool;
  private final Queue<Request> waitingForConversation = new ArrayDeque<>();
  private int founding;
  private int replaying;
  private long growNotBefore;
  private @Nullable BsonDocument firstReply;

  Handshakes(SocketPool pool) {
    this.pool = pool;
    this.growNotBefore = pool.now();
  }

  /** Sends a lane's first hello. */
  void join(Lane lane, ByteBuf message) {
    if (wantsFounder()) {
      found(lane, message.retain());
    } else {
      later(lane);
    }
  }

  private boolean wantsFounder() {
    int wanted = pool.settings().socketsPerServer();
    int common = pool.shared().size() + founding + replaying;
    if (!pool.identity().mayShare() || pool.identity().authenticatesOnce() || common == 0) {
      return true;
    }
    if (!pool.server().hasFresh()) {
      return false;
    }
    return common < wanted
        || (!pool.identity().isReplayable()
            && pool.sockets() < wanted + pool.own().wantedReserve());
  }

  /** Lets a lane whose hello waits for a socket found one. */
  void foundAgain(Lane lane) {
    if (lane.hello != null) {
      found(lane, lane.hello.encode(pool.server().allocator()));
    }
  }

  private void found(Lane lane, ByteBuf message) {
    WireSocket socket = pool.server().fresh(lane);
    if (socket.isClosed()) {
      PipelineException cause = pool.server().cannotOpen();
      message.release();
      lane.fail(cause);
      pool.shared().failWaiting(cause);
      return;
    }
    pool.claim(socket);
    socket.founder = lane;
    lane.founded = socket;
    lane.pinned = socket;
    founding++;
    Request request = new Request(Request.Kind.FOUNDING_HELLO, lane, message, true);
    lane.current = request;
    socket.send(request);
  }

  private void later(Lane lane) {
    HelloMessage hello = lane.hello;
    if (hello == null) {
      throw new IllegalStateException("no hello");
    }
    BsonDocument shorter = hello.document().clone();
    shorter.keySet().removeAll(ONCE_PER_SOCKET);
    Request request =
        new Request(
            Request.Kind.LATER_HELLO,
            lane,
            hello.with(shorter).encode(pool.server().allocator()),
            true);
    lane.current = request;
    pool.dispatchShared(request);
  }

  /** Sends a request of a lane that has to stay on its socket. */
  void sendPinned(Lane lane, WireSocket socket, Use use, CommandHead head, ByteBuf message) {
    boolean founder = socket.founder == lane;
    if (founder && use != Use.AUTHENTICATION) {
      // Lanes to an arbiter have credentials and don't use them: theirs is no socket to share.
      keepForGood(lane, socket);
      founder = false;
    }
    if (!head.expectsReply()) {
      socket.send(new Request(Request.Kind.OWN, lane, message.retain(), false));
      return;
    }
    pool.meters().own.increment();
    socket.send(
        SocketPool.request(
            founder ? Request.Kind.AUTHENTICATION : Request.Kind.OWN, lane, message));
  }

  private void keepForGood(Lane lane, WireSocket socket) {
    if (socket.founder == lane) {
      socket.founder = null;
      founding--;
    }
    socket.ready = true;
    socket.owner = lane;
    lane.pinned = socket;
    lane.pinnedForGood = true;
  }

  /** Sends a step of an authentication of a lane that did not found a socket. */
  void authenticate(Lane lane, CommandHead head, ByteBuf message) {
    if (lane.conversation != null) {
      lane.conversation.send(SocketPool.request(Request.Kind.AUTHENTICATION, lane, message));
      return;
    }
    if (!pool.identity().authenticates() || !SharingRules.isRepeatable(head.mechanism())) {
      // Whoever this turns into, it is on a socket that nobody else will ever use.
      Request request = SocketPool.request(Request.Kind.OWN, lane, message);
      WireSocket unauthenticated = pool.identity().authenticates() ? null : takeUnused(lane);
      if (unauthenticated != null) {
        keepForGood(lane, unauthenticated);
        unauthenticated.send(request);
      } else {
        replayForGood(lane, socket -> socket.send(request), lane::fail);
      }
      return;
    }
    Request request = SocketPool.request(Request.Kind.AUTHENTICATION, lane, message);
    request.queuedAt = pool.now();
    waitingForConversation.add(request);
    drain();
    if (lane.conversation == null) {
      pool.keepUp();
    }
  }

  /** Sends a hello after the first: the driver watches the server, or an application asks. */
  void hello(Lane lane, CommandHead head, ByteBuf message) {
    boolean waits = head.awaitsTopologyChange() || head.allowsExhaust();
    if (!head.isDriversHello()) {
      if (waits) {
        pool.own().dispatch(lane, SocketPool.request(Request.Kind.OWN, lane, message));
      } else {
        pool.dispatchShared(SocketPool.request(Request.Kind.SHARED, lane, message));
      }
      return;
    }
    WireSocket socket = takeForMonitoring(lane);
    if (socket != null) {
      keepForGood(lane, socket);
      socket.send(SocketPool.request(Request.Kind.OWN, lane, message));
    } else if (!pool.canReplay()) {
      pool.own().dispatch(lane, SocketPool.request(Request.Kind.OWN, lane, message));
    } else if (waits) {
      lane.monitoring = true;
      Request request = SocketPool.request(Request.Kind.OWN, lane, message);
      replayForGood(lane, s -> s.send(request), lane::fail);
    } else {
      // A round trip is being measured: not while a socket is opened.
      if (!lane.monitoring) {
        lane.monitoring = true;
        replayForGood(lane, s -> {}, cause -> lane.monitoring = false);
      }
      pool.dispatchShared(SocketPool.request(Request.Kind.SHARED, lane, message));
    }
  }

  private @Nullable WireSocket takeForMonitoring(Lane lane) {
    WireSocket unused = takeUnused(lane);
    lane.monitoring |= unused != null;
    return unused;
  }

  // The socket that the lane opened itself, as the driver meant it, or an idle one.
  private @Nullable WireSocket takeUnused(Lane lane) {
    WireSocket founded = lane.founded;
    return founded != null && pool.shared().remove(founded) ? founded : pool.own().takeIdle();
  }

  private void replayForGood(
      Lane lane, Consumer<WireSocket> whenReady, Consumer<PipelineException> whenFailed) {
    replay(
        lane,
        socket -> {
          if (lane.isClosed()) {
            pool.place(socket);
          } else {
            keepForGood(lane, socket);
            whenReady.accept(socket);
          }
        },
        whenFailed);
  }

  /**
   * Opens one more shared socket, if that is possible without a lane's help. After a failure, not
   * at once again, unless somebody waits and there is no other.
   */
  void growShared() {
    boolean needed = pool.shared().size() == 0 && pool.hasWaiting();
    if (replaying + founding > 0 || !(needed ? pool.canReplay() : mayGrow())) {
      return;
    }
    Lane any = pool.anyLane();
    if (any != null) {
      replay(any, pool::place, this::notGrown);
    }
  }

  /** Whether {@link #growShared} would open one. */
  boolean mayGrow() {
    return pool.canReplay() && pool.now() - growNotBefore >= 0;
  }

  private void notGrown(PipelineException cause) {
    growNotBefore = pool.now() + GROW_AGAIN_NANOS;
    if (pool.shared().size() == 0) {
      // Whoever waits for it would wait for ever.
      pool.shared().failWaiting(cause);
      failThoseWaiting(pool.now(), cause);
    }
  }

  /** Opens a socket with a lane's hello. */
  void replay(Lane lane, Consumer<WireSocket> whenReady, Consumer<PipelineException> whenFailed) {
    HelloMessage hello = lane.hello;
    if (hello == null) {
      throw new IllegalStateException("no hello");
    }
    WireSocket socket = pool.server().freshForAll(lane);
    if (socket.isClosed()) {
      whenFailed.accept(pool.server().cannotOpen());
      return;
    }
    pool.claim(socket);
    replaying++;
    socket.opening =
        new WireSocket.Opening() {
          @Override
          public void ready(WireSocket opened) {
            whenReady.accept(opened);
          }

          @Override
          public void failed(PipelineException cause) {
            whenFailed.accept(cause);
          }
        };
    socket.send(
        new Request(
            Request.Kind.REPLAYED_HELLO, null, hello.encode(pool.server().allocator()), true));
  }

  /**
   * A reply to a hello or an authentication step.
   *
   * @return the reply that the lane gets, in place of {@code reply}
   */
  ByteBuf replied(Request request, WireSocket socket, ByteBuf reply) throws PipelineException {
    HelloMessage answer = HelloMessage.parse(reply);
    switch (request.kind) {
      case FOUNDING_HELLO -> founded(socket, answer);
      case REPLAYED_HELLO -> replayed(socket, answer);
      case LATER_HELLO -> {
        return complete(answer, reply);
      }
      default -> authenticated(socket, answer);
    }
    return reply;
  }

  private void founded(WireSocket socket, HelloMessage answer) {
    Lane lane = socket.founder;
    if (!answer.isOk() || lane == null) {
      return;
    }
    if (!pool.identity().mayShare()) {
      keepForGood(lane, socket);
      return;
    }
    firstReply = answer.document();
    if (!pool.identity().authenticates() || isAuthenticated(answer.document())) {
      founderReady(socket, lane);
    }
  }

  // Without a conversation there is nothing more to say: MONGODB-X509.
  private static boolean isAuthenticated(BsonDocument hello) {
    return hello.isDocument("speculativeAuthenticate")
        && !hello.getDocument("speculativeAuthenticate").containsKey("conversationId");
  }

  private void founderReady(WireSocket socket, Lane lane) {
    founding--;
    socket.founder = null;
    socket.ready = true;
    lane.pinned = null;
    lane.authenticated = true;
    if (pool.identity().authenticatesOnce() && pool.hasEnough()) {
      socket.close(new PipelineException("no further socket is needed"));
    } else {
      pool.place(socket);
    }
  }

  private void replayed(WireSocket socket, HelloMessage answer) throws PipelineException {
    WireSocket.Opening opening = socket.opening;
    if (!answer.isOk()
        || (pool.identity().authenticates() && !isAuthenticated(answer.document()))) {
      throw new PipelineException(
          pool.server().name() + " refused another socket: " + answer.document().toJson());
    }
    replaying--;
    socket.opening = null;
    socket.ready = true;
    if (opening != null) {
      opening.ready(socket);
    }
  }

  private ByteBuf complete(HelloMessage answer, ByteBuf reply) {
    BsonDocument first = firstReply;
    if (first == null || !answer.isOk()) {
      return reply;
    }
    BsonDocument completed = answer.document().clone();
    for (String field : SAME_FOR_ALL) {
      if (first.containsKey(field)) {
        completed.put(field, first.get(field));
      }
    }
    if (completed.equals(answer.document())) {
      return reply;
    }
    ByteBuf replacement = answer.with(completed).encode(pool.server().allocator());
    reply.release();
    return replacement;
  }

  private void authenticated(WireSocket socket, HelloMessage answer) {
    BsonDocument document = answer.document();
    boolean ok = answer.isOk();
    boolean done =
        !ok
            || (document.isBoolean("done") && document.getBoolean("done").getValue())
            || !document.containsKey("conversationId");
    if (!done) {
      return;
    }
    Lane founder = socket.founder;
    if (founder != null) {
      if (ok) {
        founderReady(socket, founder);
      }
      return;
    }
    if (ok && socket.conversation != null) {
      socket.conversation.authenticated = true;
    }
    endConversation(socket);
  }

  private void endConversation(WireSocket socket) {
    if (socket.conversation != null) {
      socket.conversation.conversation = null;
      socket.conversation = null;
    }
  }

  /** Starts conversations that wait, as far as there are sockets for them. */
  void drain() {
    while (!waitingForConversation.isEmpty()) {
      WireSocket socket = pool.shared().pickForConversation(pool.now());
      if (socket == null) {
        return;
      }
      Request next = waitingForConversation.remove();
      if (next.lane != null) {
        socket.conversation = next.lane;
        next.lane.conversation = socket;
      }
      socket.send(next);
    }
  }

  /** Whether a lane waits for a socket on which to authenticate. */
  boolean hasWaiting() {
    return !waitingForConversation.isEmpty();
  }

  /** Breaks the lanes that have waited for a conversation since {@code since} or longer. */
  void failThoseWaiting(long since, PipelineException cause) {
    WaitingLine.failThoseWaiting(waitingForConversation, since, cause);
  }

  void forget(Lane lane) {
    waitingForConversation.removeIf(request -> request.lane == lane);
    if (lane.conversation != null) {
      endConversation(lane.conversation);
      drain();
    }
  }

  void socketClosed(WireSocket socket, PipelineException cause) {
    if (socket.founder != null) {
      founding--;
      socket.founder = null;
    }
    WireSocket.Opening opening = socket.opening;
    if (opening != null) {
      replaying--;
      socket.opening = null;
      opening.failed(cause);
    }
  }

  /** Whether a socket is on its way that will be shared. */
  boolean areUnderWay() {
    return founding + replaying > 0;
  }
}
