package dev.onehop.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.mongodb.client.MongoClients;
import dev.onehop.routing.OneHop;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class InternalClientsTest {
  private final LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
  private final Logger logger = context.getLogger("org.mongodb.driver.client");
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  @BeforeEach
  void captureLog() {
    lines.start();
    logger.setLevel(Level.INFO);
    logger.setAdditive(false);
    logger.addAppender(lines);
  }

  @AfterEach
  void restoreLogger() {
    logger.detachAppender(lines);
    logger.setAdditive(true);
    logger.setLevel(null);
    context.resetTurboFilterList();
  }

  @Test
  void logsOnlyApplicationClient() {
    InternalClients.mute();
    InternalClients.mute();
    try (OneHop router = OneHop.builder("mongodb://localhost:1/").build()) {
      MongoClients.create(router.syncClientSettings()).close();
    }

    assertThat(context.getTurboFilterList()).hasSize(1);
    assertThat(lines.list).hasSize(1);
    assertThat(lines.list.get(0).getFormattedMessage()).contains("onehop-targeted");
  }
}
