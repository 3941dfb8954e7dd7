package dev.onehop.it.application;

import com.mongodb.reactivestreams.client.MongoClient;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.config.AbstractReactiveMongoConfiguration;
import org.springframework.data.mongodb.repository.config.EnableReactiveMongoRepositories;

/** The configuration of a Spring application. The test adds the client as a bean. */
@Configuration
@EnableReactiveMongoRepositories(considerNestedRepositories = true)
class Application extends AbstractReactiveMongoConfiguration {
  static final String DATABASE = "DropInIT";

  private final MongoClient client;

  Application(MongoClient client) {
    this.client = client;
  }

  @Override
  public MongoClient reactiveMongoClient() {
    return client;
  }

  @Override
  protected String getDatabaseName() {
    return DATABASE;
  }

  @Override
  protected boolean autoIndexCreation() {
    return true;
  }
}
