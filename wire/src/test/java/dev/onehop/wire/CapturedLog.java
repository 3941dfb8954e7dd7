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
 * What a logger says while a test runs goes to the test instead of the console. With expected parts
 * of messages only what has one of them; the rest is printed as ever.
 */
public final class CapturedLog extends AppenderBase<ILoggingEvent> implements AfterEachCallback {
  private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
  private final Logger logger;
  private final List<String> expected;
  private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

  public CapturedLog(String logger, String... expected) {
    this.logger = (Logger) LoggerFactory.getLogger(logger);
    this.expected = List.of(expected);
    // Before each test, since an instance is made for it: also what other fields log goes here.
    start();
    this.logger.addAppender(this);
    this.logger.setAdditive(false);
  }

  /** The driver's own error: it releases a session twice when an operation ends early. */
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

  /** Messages, each with that of the exception behind it. */
  public List<String> messages() {
    return events.stream().map(CapturedLog::text).toList();
  }
}
