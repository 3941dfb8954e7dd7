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
 * Runs a test once for every {@link Mode} with these routing modes, drivers and values of {@code
 * pipelined}. A test and its {@code @BeforeEach} can have these parameters:
 *
 * <ul>
 *   <li>{@link Mode};
 *   <li>{@link com.mongodb.client.MongoClient} of this mode, if the class has
 *       {@code @ShardedCluster}. The tests of a class share the client. It is closed after the
 *       class.
 * </ul>
 *
 * <p>If drivers and pipelining are not given, each routing mode runs with the reactive driver. It
 * also runs with the synchronous driver or with pipelining, alternately. {@code
 * -Donehop.it.full=true} runs all combinations.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(RoutedModesExtension.class)
public @interface RoutedModes {
  /** Whether this run has all combinations, and more cases of random tests. */
  boolean FULL = Boolean.getBoolean("onehop.it.full");

  RoutingMode[] mode() default {RoutingMode.TARGETED, RoutingMode.DIRECT};

  Driver[] driver() default {Driver.REACTIVE, Driver.SYNC};

  boolean[] pipelined() default {false, true};
}
