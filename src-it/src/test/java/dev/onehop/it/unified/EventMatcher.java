package dev.onehop.it.unified;

import static org.awaitility.Awaitility.await;

import com.mongodb.event.CommandEvent;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.ConnectionCheckOutFailedEvent;
import com.mongodb.event.ConnectionClosedEvent;
import dev.onehop.it.unified.EventLog.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.awaitility.core.ConditionTimeoutException;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** Compares a client's events with the expected ones. */
final class EventMatcher {
  /** The commands that a publisher sends by itself after it has opened or left a cursor. */
  private static final Set<String> CURSOR_COMMANDS = Set.of("getMore", "killCursors");

  private static final Duration LATE = Duration.ofMillis(1_500);

  private final Matcher matcher;

  EventMatcher(Matcher matcher) {
    this.matcher = matcher;
  }

  /**
   * Compares the client's events with the expected events, and waits some time for late ones.
   *
   * @param fetchesAhead whether the client may send more commands for its cursors than the test
   *     needs
   * @throws AssertionError if they differ
   */
  void matches(BsonDocument expected, EventLog log, boolean fetchesAhead) {
    try {
      await()
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(20))
          .atMost(LATE)
          .untilAsserted(() -> matchNow(expected, log, fetchesAhead));
    } catch (ConditionTimeoutException e) {
      throw new AssertionError(e.getMessage(), e);
    }
  }

  private void matchNow(BsonDocument expected, EventLog log, boolean fetchesAhead) {
    List<BsonDocument> wanted =
        expected.getArray("events").stream().map(BsonValue::asDocument).toList();
    String type =
        expected.containsKey("eventType") ? expected.getString("eventType").getValue() : "command";
    List<Event> actual = log.events(type);
    if (fetchesAhead) {
      actual = withoutExtraCursorEvents(actual, wanted);
    }
    boolean more = expected.getBoolean("ignoreExtraEvents", BsonBoolean.FALSE).getValue();
    if (actual.size() < wanted.size() || (actual.size() > wanted.size() && !more)) {
      throw new AssertionError(
          "%d events and not %d:%s%n expected: %s"
              .formatted(actual.size(), wanted.size(), described(actual), wanted));
    }
    for (int i = 0; i < wanted.size(); i++) {
      matchOne(wanted.get(i), actual.get(i), i);
    }
  }

  /** Leaves out events of getMore and killCursors that are not expected. */
  private List<Event> withoutExtraCursorEvents(List<Event> actual, List<BsonDocument> wanted) {
    List<Event> left = new ArrayList<>();
    for (Event event : actual) {
      boolean unexpected = left.size() >= wanted.size() || !isMatch(wanted.get(left.size()), event);
      if (!isCursorEvent(event) || !unexpected) {
        left.add(event);
      }
    }
    return left;
  }

  private static boolean isCursorEvent(Event event) {
    return event.event() instanceof CommandEvent command
        && CURSOR_COMMANDS.contains(command.getCommandName());
  }

  /** The number of events that match. */
  long count(BsonDocument expected, EventLog log) {
    return log.events("all").stream().filter(event -> isMatch(expected, event)).count();
  }

  private boolean isMatch(BsonDocument expected, Event event) {
    try {
      matchOne(expected, event, 0);
      return true;
    } catch (AssertionError e) {
      return false;
    }
  }

  private void matchOne(BsonDocument expected, Event actual, int index) {
    String name = expected.getFirstKey();
    if (!actual.name().equals(name)) {
      throw new AssertionError(
          "event %d is a %s and should be a %s".formatted(index, actual.name(), name));
    }
    expected
        .getDocument(name)
        .forEach((field, value) -> matchField(field, value, actual, name + " " + index));
  }

  private void matchField(String field, BsonValue expected, Event actual, String what) {
    Object event = actual.event();
    switch (field) {
      case "command", "reply" -> matcher.matches(expected, actual.content(), what);
      case "commandName" -> text(expected, ((CommandEvent) event).getCommandName(), what);
      case "databaseName" -> text(expected, ((CommandEvent) event).getDatabaseName(), what);
      case "hasServiceId" -> {
        boolean has =
            event instanceof CommandEvent command
                && command.getConnectionDescription().getServiceId() != null;
        text(expected, has, what);
      }
      case "hasServerConnectionId" ->
          text(
              expected,
              ((CommandEvent) event).getConnectionDescription().getConnectionId().getServerValue()
                  != null,
              what);
      case "reason" ->
          text(
              expected,
              reason(
                  event instanceof ConnectionClosedEvent closed
                      ? closed.getReason()
                      : ((ConnectionCheckOutFailedEvent) event).getReason()),
              what);
      default -> throw new AssertionError("the runner does not know an event's " + field);
    }
  }

  private static String reason(Enum<?> reason) {
    String words = reason.name().toLowerCase(Locale.ROOT);
    StringBuilder camel = new StringBuilder();
    for (String word : words.split("_", -1)) {
      camel.append(
          camel.isEmpty()
              ? word
              : word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1));
    }
    return camel.toString();
  }

  private static void text(BsonValue expected, Object actual, String what) {
    Object wanted =
        expected.isBoolean() ? expected.asBoolean().getValue() : expected.asString().getValue();
    if (!wanted.equals(actual)) {
      throw new AssertionError("%s: %s and not %s".formatted(what, actual, wanted));
    }
  }

  private static String described(List<Event> events) {
    StringBuilder text = new StringBuilder();
    for (Event event : events) {
      text.append("\n  ").append(event.name()).append(' ');
      text.append(
          event.event() instanceof CommandStartedEvent
              ? event.content()
              : event.event() instanceof CommandEvent command ? command.getCommandName() : "");
    }
    return text.toString();
  }
}
