package dev.onehop.it;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives a test class replica sets of one member, which all such classes of a JVM share. Methods of
 * the class can have parameters of type {@link RealMongod}: each parameter gets a different replica
 * set. Tests must not close these replica sets. Their servers execute {@code configureFailPoint}.
 *
 * <p>All databases are dropped after the class, or after the test if only the test has the
 * parameter. A class has to restore everything else that it changes.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(SharedReplicaSet.Extension.class)
public @interface SharedReplicaSet {

  /** Starts replica sets and drops databases. */
  final class Extension implements ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(Extension.class);
    private static final Set<String> SYSTEM_DATABASES = Set.of("admin", "config", "local");

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == RealMongod.class;
    }

    @Override
    public RealMongod resolveParameter(ParameterContext parameter, ExtensionContext context) {
      long number =
          Arrays.stream(parameter.getDeclaringExecutable().getParameters())
              .limit(parameter.getIndex())
              .filter(before -> before.getType() == RealMongod.class)
              .count();
      RealMongod mongod =
          context
              .getStore(StoreScope.LAUNCHER_SESSION, NAMESPACE)
              .computeIfAbsent(number, key -> RealMongod.startWithFailPoints(), RealMongod.class);
      // This key must differ from the key above, because JUnit also searches the store of the
      // session.
      var unused =
          context
              .getStore(NAMESPACE)
              .computeIfAbsent(
                  "databases " + number,
                  key -> (AutoCloseable) () -> dropAll(mongod),
                  AutoCloseable.class);
      return mongod;
    }

    private static void dropAll(RealMongod mongod) {
      try (MongoClient client = MongoClients.create(mongod.url())) {
        for (String database : client.listDatabaseNames()) {
          if (!SYSTEM_DATABASES.contains(database)) {
            client.getDatabase(database).drop();
          }
        }
      }
    }
  }
}
