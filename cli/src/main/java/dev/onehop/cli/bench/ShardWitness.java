package dev.onehop.cli.bench;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Projections;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.conversions.Bson;

/**
 * What one shard can tell about the operations on a collection: how many it served, by the command
 * {@code top}, and where they came from, by its profiler.
 */
final class ShardWitness implements AutoCloseable {

  private static final List<String> COUNTED = List.of("queries", "insert", "update", "remove");
  private static final List<String> PROFILED = List.of("query", "insert", "update", "remove");

  private final MongoClient client;
  private final String database;

  /**
   * A witness.
   *
   * @param url the shard's primary
   */
  ShardWitness(String url, String database) {
    this.client = MongoClients.create(url);
    this.database = database;
  }

  /** Operations on a collection since the server's start. */
  long operations(String collection) {
    BsonDocument totals =
        client
            .getDatabase("admin")
            .runCommand(new BsonDocument("top", new BsonInt32(1)), BsonDocument.class)
            .getDocument("totals")
            .getDocument(database + "." + collection, new BsonDocument());
    long sum = 0;
    for (String kind : COUNTED) {
      if (totals.containsKey(kind)) {
        sum += totals.getDocument(kind).getNumber("count").longValue();
      }
    }
    return sum;
  }

  /**
   * Begins or ends to profile every operation. Not by {@code slowms: 0} with a sample rate: the
   * server would log each profiled operation as slow.
   */
  void profile(boolean on) {
    BsonDocument unused =
        client
            .getDatabase(database)
            .runCommand(new BsonDocument("profile", new BsonInt32(on ? 2 : 0)), BsonDocument.class);
  }

  /** The addresses, without ports, that profiled operations in a window came from. */
  List<String> callers(String collection, BsonDateTime from, BsonDateTime to) {
    Bson window =
        Filters.and(
            Filters.eq("ns", new BsonString(database + "." + collection)),
            Filters.in("op", PROFILED),
            Filters.gte("ts", from),
            Filters.lte("ts", to));
    List<String> callers = new ArrayList<>();
    client
        .getDatabase(database)
        .getCollection("system.profile", BsonDocument.class)
        .find(window)
        .projection(Projections.include("client"))
        .forEach(entry -> callers.add(address(entry)));
    return callers;
  }

  private static String address(BsonDocument entry) {
    String caller = entry.getString("client", new BsonString("")).getValue();
    int colon = caller.indexOf(':');
    return colon < 0 ? caller : caller.substring(0, colon);
  }

  @Override
  public void close() {
    client.close();
  }
}
