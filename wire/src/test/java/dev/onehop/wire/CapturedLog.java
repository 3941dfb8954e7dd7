package dev.onehop.wire;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * Captures the lines that a logger writes while a test runs, and keeps them from the console. If
 * expected parts of messages are given, only lines that contain one of them are captured, and the
 * other lines are printed.
 */
public final class CapturedLog extends AppenderBase<ILoggingEvent> implements AfterEachCallback {
  private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
  private final Logger logger;
  private final List<String> expected;
  private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

  public CapturedLog(String logger, String... expected) {
    this.logger = (Logger) LoggerFactory.getLogger(logger);
    this.expected = List.of(expected);
    // JUnit creates the instance before each test. The capture starts here, so that it includes the
    // messages of other fields.
    start();
    this.logger.addAppender(this);
    this.logger.setAdditive(false);
  }

  /** Captures an error of the driver, which releases a session twice if an operation ends early. */
  public static CapturedLog ofTwiceReleasedSessions() {
    return new CapturedLog(
        "org.mongodb.driver.operation", "Attempted to decrement the reference count below 0");
  }

  @Override
  public void afterEach(ExtensionContext context) {
    logger.setAdditive(true);
    logger.detachAppender(this);
  }

  @Override
  protected void append(ILoggingEvent event) {
    String text = text(event);
    if (expected.isEmpty() || expected.stream().anyMatch(text::contains)) {
      events.add(event);
    } else {
      root.callAppenders(event);
    }
  }

  private static String text(ILoggingEvent event) {
    IThrowableProxy thrown = event.getThrowableProxy();
    return event.getFormattedMessage() + (thrown == null ? "" : ": " + thrown.getMessage());
  }

  public List<ILoggingEvent> events() {
    return events;
  }

  /** The messages, each followed by the message of its exception. */
  public List<String> messages() {
    return events.stream().map(CapturedLog::text).toList();
  }
}
