package dev.onehop.routing.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.ServerAddress;
import com.mongodb.bulk.BulkWriteError;
import com.mongodb.bulk.BulkWriteInsert;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.bulk.WriteConcernError;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.WriteModel;
import dev.onehop.routing.RouteDecision;
import dev.onehop.routing.internal.client.BulkSplit.Part;
import dev.onehop.routing.internal.client.OperationRouter.Route;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class BulkSplitTest {
  private static final Route S0 = new Route(RouteDecision.OWNER, "s0", null);
  private static final Route S1 = new Route(RouteDecision.OWNER, "s1", null);
  private static final List<Route> ROUTES = List.of(S0, S1, S1, S0);
  private static final WriteConcernError NOT_CONFIRMED =
      new WriteConcernError(64, "WriteConcernFailed", "timed out", new BsonDocument());

  private final List<WriteModel<Document>> models =
      IntStream.range(0, 4)
          .<WriteModel<Document>>mapToObj(i -> new InsertOneModel<>(new Document("_id", i)))
          .toList();

  @Test
  void unorderedModelsAreGroupedByRoute() {
    assertThat(new BulkSplit<>(models, ROUTES, false).parts())
        .extracting(Part::indexes)
        .containsExactly(List.of(0, 3), List.of(1, 2));
  }

  @Test
  void orderedModelsKeepTheirOrder() {
    assertThat(new BulkSplit<>(models, ROUTES, true).parts())
        .extracting(Part::indexes)
        .containsExactly(List.of(0), List.of(1, 2), List.of(3));
  }

  @Test
  void resultsCarryTheCallersIndexes() {
    BulkWriteResult result =
        new BulkSplit<>(models, ROUTES, false).write(BulkSplitTest::insertAll).block();

    assertThat(result.getInsertedCount()).isEqualTo(4);
    assertThat(result.getInserts())
        .extracting(BulkWriteInsert::getIndex, insert -> insert.getId().asInt32().getValue())
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(0, 0),
            org.assertj.core.groups.Tuple.tuple(1, 1),
            org.assertj.core.groups.Tuple.tuple(2, 2),
            org.assertj.core.groups.Tuple.tuple(3, 3));
  }

  @Test
  void errorsCarryTheCallersIndexesAndTheRestIsWritten() {
    MongoBulkWriteException error =
        catchThrowableOfType(
            MongoBulkWriteException.class,
            () ->
                new BulkSplit<>(models, ROUTES, false)
                    .write(part -> part.route().equals(S1) ? fail(part, 1) : insertAll(part))
                    .block());

    assertThat(error.getWriteErrors()).extracting(BulkWriteError::getIndex).containsExactly(2);
    assertThat(error.getWriteResult().getInsertedCount()).isEqualTo(3);
  }

  @Test
  void orderedBulkStopsAtTheFirstError() {
    List<Part<Document>> written = new ArrayList<>();

    MongoBulkWriteException error =
        catchThrowableOfType(
            MongoBulkWriteException.class,
            () ->
                new BulkSplit<>(models, ROUTES, true)
                    .write(
                        part -> {
                          written.add(part);
                          return part.route().equals(S1) ? fail(part, 0) : insertAll(part);
                        })
                    .block());

    assertThat(written).hasSize(2);
    assertThat(error.getWriteErrors()).extracting(BulkWriteError::getIndex).containsExactly(1);
    assertThat(error.getWriteResult().getInsertedCount()).isEqualTo(1);
  }

  @Test
  void orderedBulkGoesOnAfterAWriteConcernError() {
    MongoBulkWriteException error =
        catchThrowableOfType(
            MongoBulkWriteException.class,
            () ->
                new BulkSplit<>(models, ROUTES, true)
                    .write(
                        part -> part.route().equals(S1) ? insertUnconfirmed(part) : insertAll(part))
                    .block());

    assertThat(error.getWriteResult().getInsertedCount()).isEqualTo(4);
    assertThat(error.getWriteErrors()).isEmpty();
    assertThat(error.getWriteConcernError()).isEqualTo(NOT_CONFIRMED);
  }

  @Test
  void failureOfAPartIsTheFailureOfTheWhole() {
    IllegalStateException failure = new IllegalStateException("gone");

    assertThat(
            catchThrowableOfType(
                IllegalStateException.class,
                () ->
                    new BulkSplit<>(models, ROUTES, false)
                        .write(
                            part -> part.route().equals(S0) ? Mono.error(failure) : insertAll(part))
                        .block()))
        .isSameAs(failure);
  }

  private static Mono<BulkWriteResult> insertAll(Part<Document> part) {
    return Mono.just(inserted(part, part.models().size()));
  }

  private static Mono<BulkWriteResult> insertUnconfirmed(Part<Document> part) {
    return Mono.error(
        new MongoBulkWriteException(
            inserted(part, part.models().size()),
            List.of(),
            NOT_CONFIRMED,
            new ServerAddress(),
            Set.of()));
  }

  private static Mono<BulkWriteResult> fail(Part<Document> part, int at) {
    BulkWriteError error = new BulkWriteError(11000, "duplicate", new BsonDocument(), at);
    return Mono.error(
        new MongoBulkWriteException(
            inserted(part, at), List.of(error), null, new ServerAddress(), Set.of()));
  }

  private static BulkWriteResult inserted(Part<Document> part, int count) {
    List<BulkWriteInsert> inserts =
        IntStream.range(0, count)
            .mapToObj(i -> new BulkWriteInsert(i, new BsonInt32(part.indexes().get(i))))
            .toList();
    return BulkWriteResult.acknowledged(count, 0, 0, 0, List.of(), inserts);
  }
}
