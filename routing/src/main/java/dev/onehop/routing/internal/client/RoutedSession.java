package dev.onehop.routing.internal.client;

import com.mongodb.ReadConcern;
import com.mongodb.TransactionOptions;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.session.ServerSession;
import dev.onehop.routing.internal.affinity.ShardClients.ShardClient;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * An explicit session across routes: one official session per client, made when an operation first
 * goes there. All tell and read one cluster time, operation time and snapshot time, those of the
 * session on the nearest mongos, so that causal consistency and snapshots hold whatever way an
 * operation takes.
 *
 * <p>A transaction stays with the client to which its first operation is routed, where the driver
 * pins it to one mongos. Until then it is open on the nearest one, where nothing was sent yet.
 *
 * <p>To be used as the official session is: one operation at a time.
 */
final class RoutedSession extends ForwardingSession {
  private final OperationRouter router;
  private final ClientSession base;
  private final Place nearest;
  private final Map<ShardClient, Place> places = new HashMap<>();
  // Where the transaction is, or the last one was, so that its commit can be said again.
  private ClientSession transactional;
  private @Nullable Place pinned;

  /**
   * Where an operation of a session runs.
   *
   * @param client null for the nearest mongos
   * @param session to be given to that client
   * @param deadline of an operation that has spent a part of its time; null for none
   */
  record Place(@Nullable ShardClient client, ClientSession session, @Nullable Deadline deadline) {
    Place(@Nullable ShardClient client, ClientSession session) {
      this(client, session, null);
    }

    /** A transaction has a deadline of its own, which its operations can't change. */
    private Place within(@Nullable Deadline other) {
      return other == null || session.hasActiveTransaction()
          ? this
          : new Place(client, session, other);
    }
  }

  /**
   * @param router of the client that the session belongs to
   * @param base the official session on the nearest mongos
   */
  RoutedSession(OperationRouter router, ClientSession base) {
    this.router = router;
    this.base = base;
    this.nearest = new Place(null, new View(base));
    this.transactional = base;
  }

  /** What the official client on the nearest mongos is given for a session, whoever made it. */
  static ClientSession onNearest(ClientSession session) {
    return session instanceof RoutedSession routed ? routed.nearest.session() : session;
  }

  /** What an official client is given to check a call's arguments, or to refuse the session. */
  static ClientSession checking(ClientSession session) {
    return session instanceof RoutedSession routed ? routed.base : session;
  }

  /** The session if it belongs to this router's client; null leaves its refusal to the official. */
  static @Nullable RoutedSession of(OperationRouter router, ClientSession session) {
    return session instanceof RoutedSession routed && routed.router == router ? routed : null;
  }

  /**
   * Runs an operation that has no route of its own: on the nearest mongos, or where the session's
   * transaction is.
   *
   * @param nearest what the operation belongs to, on the official client of the nearest mongos
   * @param elsewhere the same on another client
   * @param call the operation; called once before, as the official client checks arguments then
   */
  static <T, R> Flux<R> unrouted(
      OperationRouter router,
      ClientSession clientSession,
      T nearest,
      Function<ShardClient, T> elsewhere,
      BiFunction<T, ClientSession, Publisher<R>> call) {
    Publisher<R> checked = call.apply(nearest, checking(clientSession));
    RoutedSession ours = of(router, clientSession);
    return ours == null
        ? Flux.from(checked)
        : ours.unroutedPlace(null)
            .flatMapMany(
                place ->
                    call.apply(
                        place.client() == null ? nearest : elsewhere.apply(place.client()),
                        place.session()));
  }

  @Override
  synchronized ClientSession official() {
    return transactional;
  }

  /** Where every operation of the running transaction goes; null if that is still open. */
  synchronized @Nullable Place transactionPlace() {
    return transactional.hasActiveTransaction() ? pinned : null;
  }

  /** The place of an operation without a route of its own. */
  Mono<Place> unroutedPlace(@Nullable Deadline deadline) {
    Place place = transactionPlace();
    return place != null ? Mono.just(place) : place(null, deadline);
  }

  /**
   * The session on a route's client, whose first operation of a transaction takes the transaction
   * there.
   *
   * @param client null for the nearest mongos
   * @param deadline of the operation, null for none
   */
  Mono<Place> place(@Nullable ShardClient client, @Nullable Deadline deadline) {
    return Mono.defer(
        () -> {
          Place known = client == null ? nearest : known(client);
          Mono<Place> there =
              known != null
                  ? Mono.just(known)
                  : Mono.from(client.client().startSession(base.getOptions()))
                      .map(official -> added(client, official));
          return (beginsSnapshot() && router.times().areSeveral()
                  ? router
                      .times()
                      .agree(base, deadline)
                      .then(Mono.fromRunnable(this::fixTime))
                      .then(there)
                  : there)
              .map(place -> entered(place, deadline))
              .map(place -> place.within(deadline));
        });
  }

  /**
   * The time of a snapshot session is the one that all were told: one that a mongos picks may be
   * ahead of what other shards have heard of, and writes there that come later would be in it. In a
   * transaction only the mongos can pick it.
   */
  private synchronized void fixTime() {
    BsonDocument latest = base.getClusterTime();
    if (latest != null && isSnapshotSession() && base.getSnapshotTimestamp() == null) {
      base.setSnapshotTimestamp(latest.getTimestamp("clusterTime"));
    }
  }

  private synchronized boolean beginsSnapshot() {
    if (transactional.hasActiveTransaction()) {
      return pinned == null
          && ReadConcern.SNAPSHOT.equals(transactional.getTransactionOptions().getReadConcern());
    }
    return isSnapshotSession() && base.getSnapshotTimestamp() == null;
  }

  private boolean isSnapshotSession() {
    return Boolean.TRUE.equals(base.getOptions().isSnapshot());
  }

  private synchronized @Nullable Place known(ShardClient client) {
    Object unusedButOpen = base.getSnapshotTimestamp(); // Refused when the session is closed.
    return places.get(client);
  }

  private synchronized Place added(ShardClient client, ClientSession official) {
    if (official.getOriginator() == base.getOriginator()) {
      // A shard beside the application's own mongoses has their client.
      official.close();
      return places.computeIfAbsent(client, here -> used(here, nearest.session()));
    }
    Place place = places.computeIfAbsent(client, here -> used(here, new View(official)));
    if (((View) place.session()).official() != official) {
      official.close();
    }
    return place;
  }

  /** Its client stays open as long as the session does. */
  private static Place used(ShardClient client, ClientSession session) {
    client.use();
    return new Place(client, session);
  }

  /** The {@code timeoutMS} of an operation, which in a transaction is that of the transaction. */
  synchronized @Nullable Long timeoutMillis(@Nullable Long ofCollection) {
    if (!transactional.hasActiveTransaction()) {
      return ofCollection;
    }
    Long own = transactional.getTransactionOptions().getTimeout(TimeUnit.MILLISECONDS);
    Long ofSession = base.getOptions().getDefaultTimeout(TimeUnit.MILLISECONDS);
    return own != null ? own : ofSession != null ? ofSession : ofCollection;
  }

  private synchronized Place entered(Place place, @Nullable Deadline deadline) {
    ClientSession official = ((View) place.session()).official();
    if (transactional.hasActiveTransaction()) {
      if (pinned != null) {
        return pinned;
      }
      if (official != transactional) {
        TransactionOptions options =
            Deadline.limit(deadline, transactional.getTransactionOptions());
        leave(transactional);
        official.startTransaction(options);
        transactional = official;
      }
      pinned = place;
    } else if (official != transactional) {
      // An operation outside of it ends what is left of a transaction, as on one client: also the
      // hold on its mongos, with which the official session takes no other operation.
      transactional.clearTransactionContext();
      boolean unused = transactional.notifyMessageSent();
    }
    return place;
  }

  /** Nothing was sent in it, so that its end is known to this driver only. */
  private static void leave(ClientSession session) {
    Mono.from(session.abortTransaction()).subscribe();
    boolean unused = session.notifyMessageSent();
  }

  @Override
  public void startTransaction() {
    startTransaction(TransactionOptions.builder().build());
  }

  @Override
  public synchronized void startTransaction(TransactionOptions transactionOptions) {
    if (transactional.hasActiveTransaction()) {
      transactional.startTransaction(transactionOptions);
      return;
    }
    base.startTransaction(transactionOptions);
    transactional = base;
    pinned = null;
  }

  @Override
  public Publisher<Void> commitTransaction() {
    return Mono.defer(() -> ended(official(), official().commitTransaction()));
  }

  @Override
  public Publisher<Void> abortTransaction() {
    return Mono.defer(() -> ended(official(), official().abortTransaction()));
  }

  /** The driver gives the command its own session, which has to know and to tell the times. */
  private Mono<Void> ended(ClientSession session, Publisher<Void> end) {
    if (session == base) {
      return Mono.from(end);
    }
    session.advanceClusterTime(base.getClusterTime());
    return Mono.from(end)
        .doOnTerminate(
            () -> {
              base.advanceClusterTime(session.getClusterTime());
              base.advanceOperationTime(session.getOperationTime());
            });
  }

  @Override
  ClientSession times() {
    return base;
  }

  /** Of the transaction under way, else the one that commands carry wherever they go. */
  @Override
  public synchronized ServerSession getServerSession() {
    return (transactional.hasActiveTransaction() ? transactional : base).getServerSession();
  }

  @Override
  public synchronized void close() {
    places.forEach(
        (client, place) -> {
          place.session().close();
          client.release();
        });
    places.clear();
    base.close();
  }

  /** One client's official session, with the times of all. */
  private final class View extends ForwardingSession {
    private final ClientSession official;

    View(ClientSession official) {
      this.official = official;
    }

    @Override
    ClientSession official() {
      return official;
    }

    @Override
    public void notifyOperationInitiated(Object operation) {
      synchronized (RoutedSession.this) {
        if (transactional != official && transactional.hasActiveTransaction()) {
          throw new IllegalStateException(
              "the session's transaction is under way on another mongos, and this operation was"
                  + " prepared before");
        }
      }
      official.notifyOperationInitiated(operation);
    }

    @Override
    public boolean notifyMessageSent() {
      synchronized (RoutedSession.this) {
        if (transactional == official && pinned == null && official.hasActiveTransaction()) {
          pinned = nearest;
        }
      }
      return official.notifyMessageSent();
    }

    @Override
    ClientSession times() {
      return base;
    }

    /** The end of a transaction, which is the driver's, carries the official session's. */
    @Override
    public ServerSession getServerSession() {
      return RoutedSession.this.getServerSession();
    }
  }
}
