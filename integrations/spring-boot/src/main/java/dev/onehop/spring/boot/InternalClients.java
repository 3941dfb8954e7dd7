package dev.onehop.spring.boot;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.DynamicThresholdFilter;
import ch.qos.logback.classic.turbo.MDCValueLevelPair;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/** Limits the log lines that the driver writes for the router's internal clients. */
final class InternalClients {
  private static final String MARK = "onehop";

  private InternalClients() {}

  /** Drops the lines below WARN, if the logging system is Logback. */
  static void mute() {
    if (ClassUtils.isPresent(
            "ch.qos.logback.classic.LoggerContext", InternalClients.class.getClassLoader())
        && LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      mute(context);
    }
  }

  private static void mute(LoggerContext context) {
    if (context.getTurboFilterList().stream().anyMatch(each -> MARK.equals(each.getName()))) {
      return;
    }
    MDCValueLevelPair internal = new MDCValueLevelPair();
    internal.setValue("internal");
    internal.setLevel(Level.WARN);
    DynamicThresholdFilter filter = new DynamicThresholdFilter();
    filter.setName(MARK);
    filter.setKey(MARK);
    filter.setDefaultThreshold(Level.TRACE);
    filter.addMDCValueLevelPair(internal);
    filter.start();
    context.addTurboFilter(filter);
  }
}
