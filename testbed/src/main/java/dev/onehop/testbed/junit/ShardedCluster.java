package dev.onehop.testbed.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a test class on a sharded cluster that all such classes of a JVM share: three shards of one
 * member each, with a router beside each, without delays, on {@code 127.33.0.1} to {@code
 * 127.33.0.3}. It starts when it is first used, and ends with the JVM.
 *
 * <pre>{@code
 * @ShardedCluster
 * class OrdersTest {
 *   @Test
 *   void ordersAreFound(SharedCluster cluster) {
 *     cluster.shardCollection("orders", key, splitPoints);
 *     try (MongoClient client = OneHop.builder(cluster.url()).client(com.mongodb.client.MongoClient.class)) {
 *       client.getDatabase(cluster.database()).getCollection("orders")...
 *     }
 *   }
 * }
 * }</pre>
 *
 * <p>Constructors, test methods and lifecycle methods can have a parameter of type {@link
 * SharedCluster}.
 *
 * <p>Every class has a database of its own. The databases of a class are dropped after its last
 * method; if that fails, the next class gets a new cluster. What else a class changes, it has to
 * put back: zones, users, fail points, server parameters, the profiling level of other databases,
 * and servers that it has stopped. A class that can't do that starts a {@link
 * dev.onehop.testbed.Testbed} of its own.
 *
 * <p>Works with JUnit 5 from 5.12 on and with JUnit 6.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(ShardedClusterExtension.class)
public @interface ShardedCluster {}
