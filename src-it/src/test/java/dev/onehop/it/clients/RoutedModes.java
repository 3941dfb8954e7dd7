package dev.onehop.it.clients;

import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.clients.Driver;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a test once for every {@link Mode} that has one of these modes of routing, one of these
 * drivers, and is pipelined or not. A test and its {@code @BeforeEach} can have two more
 * parameters:
 *
 * <ul>
 *   <li>{@link Mode};
 *   <li>{@link com.mongodb.client.MongoClient} of that mode, where the class has
 *       {@code @ShardedCluster}. The tests of a class share it. It is closed after the class.
 * </ul>
 *
 * <p>Where drivers and pipelining are left open, each mode of routing has the reactive driver, and
 * in turns the synchronous one or pipelining; {@code -Donehop.it.full=true} runs all of them.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(RoutedModesExtension.class)
public @interface RoutedModes {
  /** Whether this run has all combinations, and the larger counts of random tests. */
  boolean FULL = Boolean.getBoolean("onehop.it.full");

  RoutingMode[] mode() default {RoutingMode.TARGETED, RoutingMode.DIRECT};

  Driver[] driver() default {Driver.REACTIVE, Driver.SYNC};

  boolean[] pipelined() default {false, true};
}
