package dev.onehop.routing.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.reactivestreams.client.AggregatePublisher;
import com.mongodb.reactivestreams.client.ChangeStreamPublisher;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.DistinctPublisher;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCluster;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A method that a newer driver adds, even as a default method, must not slip past routing. */
class RoutedInterfacesTest {

  static List<Arguments> implementations() {
    return List.of(
        Arguments.of(MongoClient.class, RoutedMongoClient.class),
        Arguments.of(MongoCluster.class, RoutedCluster.class),
        Arguments.of(MongoDatabase.class, RoutedDatabase.class),
        Arguments.of(MongoCollection.class, RoutedCollection.class),
        Arguments.of(FindPublisher.class, RoutedFindPublisher.class),
        Arguments.of(AggregatePublisher.class, RoutedAggregatePublisher.class),
        Arguments.of(DistinctPublisher.class, RoutedDistinctPublisher.class),
        Arguments.of(ChangeStreamPublisher.class, RoutedWatch.class),
        Arguments.of(ClientSession.class, RoutedSession.class));
  }

  @ParameterizedTest
  @MethodSource("implementations")
  void everyMethodIsOurs(Class<?> official, Class<?> ours) throws NoSuchMethodException {
    for (Method method : official.getMethods()) {
      Method implementation = ours.getMethod(method.getName(), method.getParameterTypes());

      assertThat(implementation.getDeclaringClass().getPackage())
          .as("%s.%s%s", official.getSimpleName(), method.getName(), parameters(method))
          .isEqualTo(RoutedCollection.class.getPackage());
    }
  }

  private static String parameters(Method method) {
    return Arrays.toString(method.getParameterTypes());
  }
}
