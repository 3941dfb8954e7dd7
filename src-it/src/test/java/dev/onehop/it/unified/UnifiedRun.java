package dev.onehop.it.unified;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoClient;
import dev.onehop.it.clients.Mode;
import dev.onehop.routing.clients.BlockingView;
import dev.onehop.routing.clients.DriverCannot;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** One run of one test. */
final class UnifiedRun implements AutoCloseable {
  private final SpecificationTest test;
  private final Deployment deployment;
  private final Entities entities;
  private final Operations operations;
  private final SpecialOperations special;
  private final Matcher matcher;
  private final ErrorMatcher errors;
  private final EventMatcher events;

  UnifiedRun(SpecificationTest test, Deployment deployment, Mode mode) {
    this.test = test;
    this.deployment = deployment;
    this.entities = new Entities(deployment, mode);
    this.operations = new Operations(entities);
    this.matcher = new Matcher(entities);
    this.errors = new ErrorMatcher(matcher);
    this.events = new EventMatcher(matcher);
    this.special = new SpecialOperations(entities, deployment, events, this::operation);
  }

  /**
   * Runs the test.
   *
   * @param sharded whether the collections are sharded, if the deployment is a sharded cluster
   * @throws AssertionError if the test fails
   * @throws DriverCannot if the driver does not have the tested feature
   */
  void run(boolean sharded) {
    deployment.prepare(test.sharedArray("initialData"), sharded);
    entities.create(test.sharedArray("createEntities"));
    for (BsonValue each : test.array("operations")) {
      operation(each.asDocument());
    }
    for (BsonValue each : test.array("expectEvents")) {
      BsonDocument expected = each.asDocument();
      String client = expected.getString("client").getValue();
      boolean ahead =
          test.uses("createChangeStream")
              && BlockingView.isReactive(entities.get(client, MongoClient.class));
      events.matches(expected, entities.log(client), ahead);
    }
    for (BsonValue each : test.array("outcome")) {
      outcome(each.asDocument());
    }
  }

  private void operation(BsonDocument operation) {
    String name = operation.getString("name").getValue();
    String object = operation.getString("object").getValue();
    Arguments arguments = new Arguments(operation.getDocument("arguments", new BsonDocument()));
    if (object.equals("testRunner")) {
      special.run(name, arguments);
      return;
    }
    Object target = entities.get(object);
    @Nullable Object result = null;
    @Nullable RuntimeException error = null;
    try {
      result = operations.run(target, name, arguments);
      arguments.done();
    } catch (DriverCannot e) {
      throw e;
    } catch (RuntimeException e) {
      error = e;
    }
    if (operation.getBoolean("ignoreResultAndError", BsonBoolean.FALSE).getValue()) {
      return;
    }
    check(operation, name, result, error);
  }

  private void check(
      BsonDocument operation,
      String name,
      @Nullable Object result,
      @Nullable RuntimeException error) {
    if (operation.containsKey("expectError")) {
      BsonDocument expected = operation.getDocument("expectError");
      if (error == null) {
        throw new AssertionError(
            "%s should fail: %s%n actual: %s".formatted(name, expected, result));
      }
      errors.matches(expected, error);
      return;
    }
    if (error != null) {
      throw new AssertionError("%s failed: %s".formatted(name, error), error);
    }
    if (operation.containsKey("expectResult")) {
      boolean unordered =
          deployment.topology().equals("sharded")
              && !operation.getDocument("arguments", new BsonDocument()).containsKey("sort");
      matcher.matches(
          operation.get("expectResult"),
          unordered ? Results.byId((BsonValue) result) : (BsonValue) result,
          "result of " + name);
    }
    if (operation.containsKey("saveResultAsEntity")) {
      entities.put(operation.getString("saveResultAsEntity").getValue(), result);
    }
  }

  private void outcome(BsonDocument expected) {
    List<BsonDocument> actual =
        deployment
            .internal()
            .getDatabase(expected.getString("databaseName").getValue())
            .getCollection(expected.getString("collectionName").getValue(), BsonDocument.class)
            .withReadPreference(ReadPreference.primary())
            .withReadConcern(ReadConcern.LOCAL)
            .find()
            .sort(BsonDocument.parse("{_id: 1}"))
            .into(new ArrayList<>());
    List<BsonDocument> wanted =
        expected.getArray("documents").stream()
            .map(BsonValue::asDocument)
            .sorted(Comparator.comparing(each -> String.valueOf(each.get("_id"))))
            .toList();
    actual.sort(Comparator.comparing(each -> String.valueOf(each.get("_id"))));
    if (!wanted.equals(actual)) {
      throw new AssertionError(
          "the collection holds %s%n and should hold %s"
              .formatted(new BsonArray(actual), new BsonArray(wanted)));
    }
  }

  @Override
  public void close() {
    entities.close();
    deployment.reset();
  }
}
