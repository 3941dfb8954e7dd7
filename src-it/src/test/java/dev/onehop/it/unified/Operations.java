package dev.onehop.it.unified;

import com.mongodb.MongoNamespace;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.AggregateIterable;
import com.mongodb.client.ChangeStreamIterable;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.MongoIterable;
import com.mongodb.client.gridfs.GridFSBucket;
import com.mongodb.client.gridfs.model.GridFSDownloadOptions;
import com.mongodb.client.gridfs.model.GridFSUploadOptions;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.CountOptions;
import com.mongodb.client.model.CreateCollectionOptions;
import com.mongodb.client.model.CreateIndexOptions;
import com.mongodb.client.model.CreateViewOptions;
import com.mongodb.client.model.DeleteManyModel;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.DeleteOptions;
import com.mongodb.client.model.DropIndexOptions;
import com.mongodb.client.model.EstimatedDocumentCountOptions;
import com.mongodb.client.model.FindOneAndDeleteOptions;
import com.mongodb.client.model.FindOneAndReplaceOptions;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.IndexModel;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.InsertOneOptions;
import com.mongodb.client.model.RenameCollectionOptions;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.InsertManyResult;
import com.mongodb.client.result.InsertOneResult;
import com.mongodb.client.result.UpdateResult;
import dev.onehop.routing.clients.DriverCannot;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonObjectId;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/** The operations of a test on clients, databases, collections, sessions, cursors and buckets. */
final class Operations {
  private static final Class<BsonDocument> DOCUMENT = BsonDocument.class;

  private final Entities entities;

  Operations(Entities entities) {
    this.entities = entities;
  }

  /**
   * Executes an operation.
   *
   * @return a {@link BsonValue}, or an entity such as a cursor, or null for no result
   * @throws DriverCannot if the driver has no such operation
   */
  @Nullable Object run(Object target, String name, Arguments arguments) {
    @Nullable BsonValue session = arguments.optional("session");
    Call call =
        new Call(
            target,
            session == null
                ? null
                : entities.get(session.asString().getValue(), ClientSession.class));
    if (target instanceof MongoClient client) {
      return client(call.withTimeout(client, arguments), name, arguments);
    }
    if (target instanceof MongoDatabase database) {
      return database(call.withTimeout(database, arguments), name, arguments);
    }
    if (target instanceof MongoCollection<?>) {
      @SuppressWarnings("unchecked")
      MongoCollection<BsonDocument> collection = (MongoCollection<BsonDocument>) target;
      return collection(call.withTimeout(collection, arguments), name, arguments);
    }
    if (target instanceof GridFSBucket bucket) {
      return bucket(call.withTimeout(bucket, arguments), name, arguments);
    }
    if (target instanceof ClientSession of) {
      return session(of, name, arguments);
    }
    return cursor((MongoCursor<?>) target, name, arguments);
  }

  /**
   * A call of the driver. Each method of the driver also has a form with the session as its first
   * argument.
   */
  private record Call(Object target, @Nullable ClientSession session) {
    @Nullable Object to(String name, Object... arguments) {
      List<Object> all = new ArrayList<>(Arrays.asList(arguments));
      if (session != null) {
        all.add(0, session);
      }
      for (Class<?> type : target.getClass().getInterfaces()) {
        for (Method method : type.getMethods()) {
          if (method.getName().equals(name) && fits(method.getParameterTypes(), all)) {
            try {
              return method.invoke(target, all.toArray());
            } catch (InvocationTargetException e) {
              if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
              }
              throw new AssertionError(e);
            } catch (IllegalAccessException e) {
              throw new AssertionError(e);
            }
          }
        }
      }
      throw new AssertionError("no method " + name + " takes " + all);
    }

    private static boolean fits(Class<?>[] types, List<Object> arguments) {
      if (types.length != arguments.size()) {
        return false;
      }
      for (int i = 0; i < types.length; i++) {
        if (!types[i].isInstance(arguments.get(i))) {
          return false;
        }
      }
      return true;
    }

    Call withTimeout(Object of, Arguments arguments) {
      @Nullable BsonValue timeout = arguments.optional("timeoutMS");
      return timeout == null
          ? this
          : new Call(new Call(of, null).timed(timeout.asNumber().longValue()), session);
    }

    private Object timed(long millis) {
      if (target instanceof MongoClient client) {
        return client.withTimeout(millis, TimeUnit.MILLISECONDS);
      }
      if (target instanceof MongoDatabase database) {
        return database.withTimeout(millis, TimeUnit.MILLISECONDS);
      }
      return target instanceof MongoCollection<?> collection
          ? collection.withTimeout(millis, TimeUnit.MILLISECONDS)
          : ((GridFSBucket) target).withTimeout(millis, TimeUnit.MILLISECONDS);
    }

    /** Sets the remaining arguments as options. */
    @SuppressWarnings("unchecked")
    <T> MongoIterable<T> iterable(Arguments rest, String name, Object... arguments) {
      MongoIterable<T> iterable = rest.on((MongoIterable<T>) to(name, arguments));
      return iterable;
    }

    BsonValue list(Arguments rest, String name, Object... arguments) {
      return Results.of(this.<BsonValue>iterable(rest, name, arguments).into(new ArrayList<>()));
    }
  }

  private @Nullable Object client(Call call, String name, Arguments arguments) {
    return switch (name) {
      case "listDatabases" -> call.list(arguments, name, DOCUMENT);
      case "listDatabaseNames" ->
          Results.ofNames(call.<String>iterable(arguments, name).into(new ArrayList<>()));
      case "createChangeStream" -> watch(call, arguments);
      case "close" -> {
        ((MongoClient) call.target()).close();
        yield null;
      }
      default -> throw new DriverCannot("the driver's client has no " + name);
    };
  }

  private static MongoCursor<BsonDocument> watch(Call call, Arguments arguments) {
    MongoIterable<?> stream =
        call.iterable(arguments, "watch", arguments.documents("pipeline"), DOCUMENT);
    return ((ChangeStreamIterable<?>) stream).withDocumentClass(DOCUMENT).cursor();
  }

  private @Nullable Object database(Call call, String name, Arguments arguments) {
    switch (name) {
      case "runCommand" -> {
        arguments.optional("commandName");
        BsonDocument command = arguments.document("command");
        @Nullable BsonValue preference = arguments.optional("readPreference");
        arguments.done();
        return preference == null
            ? call.to(name, command, DOCUMENT)
            : call.to(name, command, Arguments.readPreference(preference.asDocument()), DOCUMENT);
      }
      case "aggregate" -> {
        return aggregate(call, arguments);
      }
      case "listCollections" -> {
        return call.list(arguments, name, DOCUMENT);
      }
      case "listCollectionNames" -> {
        return Results.ofNames(call.<String>iterable(arguments, name).into(new ArrayList<>()));
      }
      case "createCollection" -> {
        return createCollection(call, arguments);
      }
      case "dropCollection" -> {
        return new Call(
                ((MongoDatabase) call.target())
                    .getCollection(arguments.string("collection"), DOCUMENT),
                call.session())
            .to("drop");
      }
      case "createChangeStream" -> {
        return watch(call, arguments);
      }
      default -> throw new DriverCannot("the driver's database has no " + name);
    }
  }

  private static @Nullable Object createCollection(Call call, Arguments arguments) {
    String collection = arguments.string("collection");
    if (arguments.has("viewOn")) {
      String on = arguments.string("viewOn");
      List<BsonDocument> pipeline =
          arguments.has("pipeline") ? arguments.documents("pipeline") : List.of();
      return call.to("createView", collection, on, pipeline, arguments.on(new CreateViewOptions()));
    }
    call.to("createCollection", collection, arguments.on(new CreateCollectionOptions()));
    return ((MongoDatabase) call.target()).getCollection(collection, DOCUMENT);
  }

  private @Nullable Object collection(Call call, String name, Arguments arguments) {
    switch (name) {
      case "insertOne" -> {
        return Results.of(
            (InsertOneResult)
                call.to(
                    name, arguments.document("document"), arguments.on(new InsertOneOptions())));
      }
      case "insertMany" -> {
        return Results.of(
            (InsertManyResult)
                call.to(
                    name, arguments.documents("documents"), arguments.on(new InsertManyOptions())));
      }
      case "updateOne", "updateMany" -> {
        return Results.of(
            (UpdateResult)
                call.to(
                    name,
                    arguments.document("filter"),
                    arguments.update("update"),
                    arguments.on(new UpdateOptions())));
      }
      case "replaceOne" -> {
        return Results.of(
            (UpdateResult)
                call.to(
                    name,
                    arguments.document("filter"),
                    arguments.document("replacement"),
                    arguments.on(new ReplaceOptions())));
      }
      case "deleteOne", "deleteMany" -> {
        return Results.of(
            (DeleteResult)
                call.to(name, arguments.document("filter"), arguments.on(new DeleteOptions())));
      }
      case "bulkWrite" -> {
        List<WriteModel<BsonDocument>> models =
            arguments.documents("requests").stream().map(Operations::model).toList();
        return Results.of(
            (BulkWriteResult) call.to(name, models, arguments.on(new BulkWriteOptions())));
      }
      case "findOneAndUpdate" -> {
        return call.to(
            name,
            arguments.document("filter"),
            arguments.update("update"),
            arguments.on(new FindOneAndUpdateOptions()));
      }
      case "findOneAndReplace" -> {
        return call.to(
            name,
            arguments.document("filter"),
            arguments.document("replacement"),
            arguments.on(new FindOneAndReplaceOptions()));
      }
      case "findOneAndDelete" -> {
        return call.to(
            name, arguments.document("filter"), arguments.on(new FindOneAndDeleteOptions()));
      }
      case "find" -> {
        return call.list(arguments, name, arguments.document("filter"));
      }
      case "findOne" -> {
        return call.iterable(arguments, "find", arguments.document("filter")).first();
      }
      case "createFindCursor" -> {
        return call.iterable(arguments, "find", arguments.document("filter")).cursor();
      }
      case "aggregate" -> {
        return aggregate(call, arguments);
      }
      case "mapReduce" -> {
        String map = arguments.value("map").asJavaScript().getCode();
        String reduce = arguments.value("reduce").asJavaScript().getCode();
        if (!arguments.document("out").containsKey("inline")) {
          throw new DriverCannot("the runner has no mapReduce into a collection");
        }
        return call.list(arguments, name, map, reduce);
      }
      case "distinct" -> {
        return call.list(
            arguments,
            name,
            arguments.string("fieldName"),
            arguments.document("filter"),
            BsonValue.class);
      }
      case "countDocuments" -> {
        return new BsonInt64(
            (Long) call.to(name, arguments.document("filter"), arguments.on(new CountOptions())));
      }
      case "estimatedDocumentCount" -> {
        return new BsonInt64(
            (Long) call.to(name, arguments.on(new EstimatedDocumentCountOptions())));
      }
      case "createChangeStream" -> {
        return watch(call, arguments);
      }
      case "createIndex" -> {
        return createIndex(call, arguments);
      }
      case "listIndexes" -> {
        return call.list(arguments, name, DOCUMENT);
      }
      case "listIndexNames" -> {
        return Results.of(
            call.<BsonDocument>iterable(arguments, "listIndexes", DOCUMENT)
                .map(index -> index.get("name"))
                .into(new ArrayList<>()));
      }
      case "dropIndex" -> {
        return call.to(name, arguments.string("name"), arguments.on(new DropIndexOptions()));
      }
      case "dropIndexes" -> {
        return call.to(name, arguments.on(new DropIndexOptions()));
      }
      case "rename" -> {
        MongoCollection<?> collection = (MongoCollection<?>) call.target();
        return call.to(
            "renameCollection",
            new MongoNamespace(collection.getNamespace().getDatabaseName(), arguments.string("to")),
            arguments.on(new RenameCollectionOptions()));
      }
      default -> throw new DriverCannot("the driver's collection has no " + name);
    }
  }

  private static Object aggregate(Call call, Arguments arguments) {
    List<BsonDocument> pipeline = arguments.documents("pipeline");
    boolean writes =
        !pipeline.isEmpty()
            && List.of("$out", "$merge").contains(pipeline.get(pipeline.size() - 1).getFirstKey());
    if (!writes) {
      return call.list(arguments, "aggregate", pipeline, DOCUMENT);
    }
    MongoIterable<?> written = call.iterable(arguments, "aggregate", pipeline, DOCUMENT);
    ((AggregateIterable<?>) written).toCollection();
    return new BsonArray();
  }

  /**
   * Creates an index. With a time limit, calls {@code createIndexes} with this one index, because
   * {@code createIndex} has no option for the limit.
   */
  private static @Nullable Object createIndex(Call call, Arguments arguments) {
    BsonDocument keys = arguments.document("keys");
    @Nullable BsonValue time = arguments.optional("maxTimeMS");
    IndexOptions options = arguments.on(new IndexOptions());
    return time == null
        ? call.to("createIndex", keys, options)
        : call.to(
            "createIndexes",
            List.of(new IndexModel(keys, options)),
            new CreateIndexOptions().maxTime(time.asNumber().longValue(), TimeUnit.MILLISECONDS));
  }

  private static WriteModel<BsonDocument> model(BsonDocument request) {
    String name = request.getFirstKey();
    Arguments of = new Arguments(request.getDocument(name));
    if (name.equals("insertOne")) {
      return new InsertOneModel<>(of.document("document"));
    }
    BsonDocument filter = of.document("filter");
    @SuppressWarnings("unchecked")
    List<? extends Bson> pipeline =
        name.startsWith("update") && of.value("update").isArray()
            ? (List<? extends Bson>) of.update("update")
            : null;
    return switch (name) {
      case "updateOne" ->
          pipeline == null
              ? new UpdateOneModel<>(filter, of.document("update"), of.on(new UpdateOptions()))
              : new UpdateOneModel<>(filter, pipeline, of.on(new UpdateOptions()));
      case "updateMany" ->
          pipeline == null
              ? new UpdateManyModel<>(filter, of.document("update"), of.on(new UpdateOptions()))
              : new UpdateManyModel<>(filter, pipeline, of.on(new UpdateOptions()));
      case "replaceOne" ->
          new ReplaceOneModel<>(filter, of.document("replacement"), of.on(new ReplaceOptions()));
      case "deleteOne" -> new DeleteOneModel<>(filter, of.on(new DeleteOptions()));
      case "deleteMany" -> new DeleteManyModel<>(filter, of.on(new DeleteOptions()));
      default -> throw new AssertionError("the runner does not know " + name);
    };
  }

  private static @Nullable Object session(ClientSession session, String name, Arguments arguments) {
    switch (name) {
      case "startTransaction" -> {
        session.startTransaction(arguments.transaction());
        return null;
      }
      case "commitTransaction", "abortTransaction" -> {
        if (arguments.has("timeoutMS")) {
          throw new DriverCannot("the driver's sessions have no timeoutMS for " + name);
        }
        if (name.equals("commitTransaction")) {
          session.commitTransaction();
        } else {
          session.abortTransaction();
        }
        return null;
      }
      case "endSession" -> {
        session.close();
        return null;
      }
      default -> throw new DriverCannot("the reactive driver's session has no " + name);
    }
  }

  private static @Nullable Object cursor(MongoCursor<?> cursor, String name, Arguments arguments) {
    switch (name) {
      case "iterateUntilDocumentOrError" -> {
        return cursor.next();
      }
      case "iterateOnce" -> {
        return cursor.tryNext();
      }
      case "close" -> {
        if (arguments.has("timeoutMS")) {
          throw new DriverCannot("the driver's cursors have no timeoutMS for close");
        }
        cursor.close();
        return null;
      }
      default -> throw new DriverCannot("the driver's cursor has no " + name);
    }
  }

  private static @Nullable Object bucket(Call call, String name, Arguments arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    switch (name) {
      case "upload" -> {
        String hex = arguments.document("source").getString("$$hexBytes").getValue();
        String filename = arguments.string("filename");
        if (arguments.has("contentType")) {
          throw new DriverCannot("the driver's buckets have no contentType");
        }
        arguments.optional("disableMD5");
        GridFSUploadOptions options = new GridFSUploadOptions();
        if (arguments.has("metadata")) {
          options.metadata(Document.parse(arguments.document("metadata").toJson()));
        }
        if (arguments.has("chunkSizeBytes")) {
          options.chunkSizeBytes(arguments.number("chunkSizeBytes"));
        }
        return new BsonObjectId(
            (ObjectId)
                call.to(
                    "uploadFromStream",
                    filename,
                    new ByteArrayInputStream(HexFormat.of().parseHex(hex)),
                    options));
      }
      case "download" -> {
        call.to("downloadToStream", arguments.value("id"), out);
        return new BsonBinary(out.toByteArray());
      }
      case "downloadByName" -> {
        GridFSDownloadOptions download = new GridFSDownloadOptions();
        if (arguments.has("revision")) {
          download.revision(arguments.number("revision"));
        }
        call.to("downloadToStream", arguments.string("filename"), out, download);
        return new BsonBinary(out.toByteArray());
      }
      case "delete" -> {
        return call.to(name, arguments.value("id"));
      }
      case "rename" -> {
        return call.to(name, arguments.value("id"), arguments.string("newFilename"));
      }
      case "drop" -> {
        return call.to(name);
      }
      default -> throw new DriverCannot("the driver's bucket has no " + name);
    }
  }
}
