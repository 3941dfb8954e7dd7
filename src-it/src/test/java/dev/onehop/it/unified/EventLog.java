package dev.onehop.it.unified;

import com.mongodb.event.CommandFailedEvent;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import com.mongodb.event.ConnectionCheckOutFailedEvent;
import com.mongodb.event.ConnectionCheckOutStartedEvent;
import com.mongodb.event.ConnectionCheckedInEvent;
import com.mongodb.event.ConnectionCheckedOutEvent;
import com.mongodb.event.ConnectionClosedEvent;
import com.mongodb.event.ConnectionCreatedEvent;
import com.mongodb.event.ConnectionPoolClearedEvent;
import com.mongodb.event.ConnectionPoolClosedEvent;
import com.mongodb.event.ConnectionPoolCreatedEvent;
import com.mongodb.event.ConnectionPoolListener;
import com.mongodb.event.ConnectionPoolReadyEvent;
import com.mongodb.event.ConnectionReadyEvent;
import dev.onehop.routing.clients.DriverCannot;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.codecs.DecoderContext;

/** The events of a client's listeners that the test observes. Thread-safe. */
final class EventLog implements CommandListener, ConnectionPoolListener {
  private static final Set<String> SENSITIVE =
      Set.of(
          "authenticate",
          "saslstart",
          "saslcontinue",
          "getnonce",
          "createuser",
          "updateuser",
          "copydbgetnonce",
          "copydbsaslstart",
          "copydb",
          "hello",
          "ismaster");

  private final Set<String> observed = new TreeSet<>();
  private final Set<String> ignoredCommands = new TreeSet<>(Set.of("configurefailpoint"));
  private final boolean sensitive;
  private final List<Event> events = new CopyOnWriteArrayList<>();
  private final List<BsonDocument> started = new CopyOnWriteArrayList<>();
  private final AtomicInteger checkedOut = new AtomicInteger();

  /**
   * @param name the name in the specification, such as {@code commandStartedEvent}
   * @param type {@code command} or {@code cmap}
   * @param event the event of the driver
   * @param content a copy of the command or the reply, because the event has it only until the
   *     listener returns
   */
  record Event(String name, String type, Object event, BsonDocument content) {}

  /**
   * @param client the description of the client in the test
   */
  EventLog(BsonDocument client) {
    strings(client, "observeEvents").forEach(observed::add);
    if (observed.stream().anyMatch(name -> name.matches("server.*|topology.*"))) {
      throw new DriverCannot("the runner does not observe servers and topologies");
    }
    strings(client, "ignoreCommandMonitoringEvents")
        .forEach(name -> ignoredCommands.add(name.toLowerCase(Locale.ROOT)));
    sensitive =
        client.containsKey("observeSensitiveCommands")
            && client.getBoolean("observeSensitiveCommands").getValue();
  }

  private static List<String> strings(BsonDocument document, String name) {
    List<String> all = new ArrayList<>();
    if (document.containsKey(name)) {
      for (BsonValue value : document.getArray(name)) {
        all.add(value.asString().getValue());
      }
    }
    return all;
  }

  List<Event> events(String type) {
    return events.stream().filter(each -> type.equals("all") || each.type().equals(type)).toList();
  }

  /**
   * The last two commands that the client has sent, including commands that the test does not
   * observe.
   */
  List<BsonDocument> lastTwoCommands() {
    return started.subList(started.size() - 2, started.size());
  }

  int checkedOutConnections() {
    return checkedOut.get();
  }

  private void command(String name, String command, BsonDocument content, Object event) {
    String lower = command.toLowerCase(Locale.ROOT);
    // The driver hides the content of a hello with authentication from listeners.
    boolean hidden =
        SENSITIVE.contains(lower) && (content.isEmpty() || !lower.matches("hello|ismaster"));
    if (!ignoredCommands.contains(lower) && (sensitive || !hidden)) {
      BsonDocument copy =
          new BsonDocumentCodec().decode(content.asBsonReader(), DecoderContext.builder().build());
      removeUnsetBatchSize(copy);
      removeUnsetBatchSize(copy.getDocument("cursor", new BsonDocument()));
      if (observed.contains(name)) {
        events.add(new Event(name, "command", event, copy));
      }
      if (event instanceof CommandStartedEvent) {
        started.add(copy);
      }
    }
  }

  /**
   * Removes a batch size that the test has not set. If none is set, the reactive driver sends the
   * number of requested documents. This is the largest integer, because the test requests all
   * documents.
   */
  private static void removeUnsetBatchSize(BsonDocument holder) {
    holder.remove("batchSize", new BsonInt32(Integer.MAX_VALUE));
  }

  private void pool(String name, Object event) {
    if (observed.contains(name)) {
      events.add(new Event(name, "cmap", event, new BsonDocument()));
    }
  }

  @Override
  public void commandStarted(CommandStartedEvent event) {
    command("commandStartedEvent", event.getCommandName(), event.getCommand(), event);
  }

  @Override
  public void commandSucceeded(CommandSucceededEvent event) {
    command("commandSucceededEvent", event.getCommandName(), event.getResponse(), event);
  }

  @Override
  public void commandFailed(CommandFailedEvent event) {
    command(
        "commandFailedEvent",
        event.getCommandName(),
        new BsonDocument("failed", BsonBoolean.TRUE),
        event);
  }

  @Override
  public void connectionPoolCreated(ConnectionPoolCreatedEvent event) {
    pool("poolCreatedEvent", event);
  }

  @Override
  public void connectionPoolReady(ConnectionPoolReadyEvent event) {
    pool("poolReadyEvent", event);
  }

  @Override
  public void connectionPoolCleared(ConnectionPoolClearedEvent event) {
    pool("poolClearedEvent", event);
  }

  @Override
  public void connectionPoolClosed(ConnectionPoolClosedEvent event) {
    pool("poolClosedEvent", event);
  }

  @Override
  public void connectionCreated(ConnectionCreatedEvent event) {
    pool("connectionCreatedEvent", event);
  }

  @Override
  public void connectionReady(ConnectionReadyEvent event) {
    pool("connectionReadyEvent", event);
  }

  @Override
  public void connectionClosed(ConnectionClosedEvent event) {
    pool("connectionClosedEvent", event);
  }

  @Override
  public void connectionCheckOutStarted(ConnectionCheckOutStartedEvent event) {
    pool("connectionCheckOutStartedEvent", event);
  }

  @Override
  public void connectionCheckOutFailed(ConnectionCheckOutFailedEvent event) {
    pool("connectionCheckOutFailedEvent", event);
  }

  @Override
  public void connectionCheckedOut(ConnectionCheckedOutEvent event) {
    checkedOut.incrementAndGet();
    pool("connectionCheckedOutEvent", event);
  }

  @Override
  public void connectionCheckedIn(ConnectionCheckedInEvent event) {
    checkedOut.decrementAndGet();
    pool("connectionCheckedInEvent", event);
  }
}
