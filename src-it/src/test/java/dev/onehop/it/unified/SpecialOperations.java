package dev.onehop.it.unified;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.ServerAddress;
import com.mongodb.client.ClientSession;
import dev.onehop.routing.clients.DriverCannot;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** The operations of the test runner: fail points, assertions, threads. */
final class SpecialOperations {
  private static final Duration EVENT_WITHIN = Duration.ofSeconds(10);
  private static final long THREAD_SECONDS = 10;

  private final Entities entities;
  private final Deployment deployment;
  private final EventMatcher events;
  private final Consumer<BsonDocument> operations;
  private final Map<String, List<Future<?>>> threads = new HashMap<>();

  /**
   * @param operations executes an operation on an entity
   */
  SpecialOperations(
      Entities entities,
      Deployment deployment,
      EventMatcher events,
      Consumer<BsonDocument> operations) {
    this.entities = entities;
    this.deployment = deployment;
    this.events = events;
    this.operations = operations;
  }

  void run(String name, Arguments arguments) {
    switch (name) {
      case "failPoint" -> deployment.failPoint(null, arguments.document("failPoint"));
      case "targetedFailPoint" -> {
        ServerAddress pinned = session(arguments).getPinnedServerAddress();
        assertThat(pinned).as("the server that the session is pinned to").isNotNull();
        deployment.failPoint(pinned, arguments.document("failPoint"));
      }
      case "createEntities" -> entities.create(arguments.value("entities").asArray());
      case "assertSessionPinned" ->
          assertThat(session(arguments).getPinnedServerAddress()).isNotNull();
      case "assertSessionUnpinned" ->
          assertThat(session(arguments).getPinnedServerAddress()).isNull();
      case "assertSessionDirty" ->
          assertThat(session(arguments).getServerSession().isMarkedDirty()).isTrue();
      case "assertSessionNotDirty" ->
          assertThat(session(arguments).getServerSession().isMarkedDirty()).isFalse();
      case "assertSessionTransactionState" -> {
        String state = arguments.string("state");
        assertThat(session(arguments).hasActiveTransaction())
            .isEqualTo(state.equals("starting") || state.equals("in_progress"));
      }
      case "assertSameLsidOnLastTwoCommands" ->
          assertThat(lsids(arguments, 0)).isEqualTo(lsids(arguments, 1));
      case "assertDifferentLsidOnLastTwoCommands" ->
          assertThat(lsids(arguments, 0)).isNotEqualTo(lsids(arguments, 1));
      case "assertNumberConnectionsCheckedOut" ->
          await()
              .atMost(EVENT_WITHIN)
              .untilAsserted(
                  () ->
                      assertThat(log(arguments).checkedOutConnections())
                          .isEqualTo(arguments.number("connections")));
      case "assertCollectionExists" ->
          assertThat(collections(arguments)).contains(arguments.string("collectionName"));
      case "assertCollectionNotExists" ->
          assertThat(collections(arguments)).doesNotContain(arguments.string("collectionName"));
      case "assertIndexExists" ->
          assertThat(indexes(arguments)).contains(arguments.string("indexName"));
      case "assertIndexNotExists" ->
          assertThat(indexes(arguments)).doesNotContain(arguments.string("indexName"));
      case "waitForEvent" ->
          await()
              .atMost(EVENT_WITHIN)
              .until(
                  () ->
                      events.count(arguments.document("event"), log(arguments))
                          >= arguments.number("count"));
      case "assertEventCount" ->
          assertThat(events.count(arguments.document("event"), log(arguments)))
              .isEqualTo(arguments.number("count"));
      case "wait" -> sleep(arguments.number("ms"));
      case "runOnThread" -> {
        String thread = arguments.string("thread");
        BsonDocument operation = arguments.document("operation");
        threads
            .computeIfAbsent(thread, any -> new ArrayList<>())
            .add(
                entities
                    .get(thread, ExecutorService.class)
                    .submit(() -> operations.accept(operation)));
      }
      case "waitForThread" ->
          threads
              .getOrDefault(arguments.string("thread"), List.of())
              .forEach(SpecialOperations::join);
      default -> throw new DriverCannot("the runner has no " + name);
    }
  }

  private static void sleep(long millis) {
    try {
      RealTime.pass(Duration.ofMillis(millis));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void join(Future<?> running) {
    try {
      running.get(THREAD_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof AssertionError failed ? failed : new AssertionError(e);
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  private ClientSession session(Arguments arguments) {
    return entities.get(arguments.string("session"), ClientSession.class);
  }

  private EventLog log(Arguments arguments) {
    return entities.log(arguments.string("client"));
  }

  private BsonValue lsids(Arguments arguments, int index) {
    return log(arguments).lastTwoCommands().get(index).getDocument("lsid");
  }

  private List<String> collections(Arguments arguments) {
    return deployment
        .internal()
        .getDatabase(arguments.string("databaseName"))
        .listCollectionNames()
        .into(new ArrayList<>());
  }

  private List<String> indexes(Arguments arguments) {
    return deployment
        .internal()
        .getDatabase(arguments.string("databaseName"))
        .getCollection(arguments.string("collectionName"))
        .listIndexes()
        .map(index -> index.getString("name"))
        .into(new ArrayList<>());
  }
}
