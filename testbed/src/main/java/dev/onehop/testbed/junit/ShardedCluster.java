package dev.onehop.testbed.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a test class on a sharded cluster that all classes with this annotation share in a JVM:
 * three shards of one member each, without delays, on {@code 127.33.0.1} to {@code 127.33.0.3}.
 * Each of these hosts has a router, too. The cluster starts on first use and ends with the JVM.
 *
 * <pre>{@code
 * @ShardedCluster
 * class OrdersTest {
 * @Test
 * void ordersAreFound(SharedCluster cluster) {
 * cluster.shardCollection("orders", key, splitPoints);
 * try (MongoClient client = OneHop.builder(cluster.url()).client(com.mongodb.client.MongoClient.class)) {
 * client.getDatabase(cluster.database()).getCollection("orders")...
 * }
 * }
 * }
 * }</pre>
 *
 * <p>Constructors, test methods and lifecycle methods can have a parameter of type {@link
 * SharedCluster}.
 *
 * <p>Every class has its own databases, which are dropped after its last method. If they cannot be
 * dropped, the next class gets a new cluster. A class must undo its other changes: zones, users,
 * fail points, server parameters, the profiling level of other databases, and stopped servers. A
 * class that can't undo them starts a separate {@link dev.onehop.testbed.Testbed}.
 *
 * <p>The annotation works with JUnit 5.12 or later, and with JUnit 6.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(ShardedClusterExtension.class)
public @interface ShardedCluster {}
