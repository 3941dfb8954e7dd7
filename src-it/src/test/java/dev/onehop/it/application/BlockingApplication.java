package dev.onehop.it.application;

import com.mongodb.client.MongoClient;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.config.AbstractMongoClientConfiguration;
import org.springframework.data.mongodb.repository.config.EnableMongoRepositories;

/** Like {@link Application}, on the synchronous driver. */
@Configuration
@EnableMongoRepositories(considerNestedRepositories = true)
class BlockingApplication extends AbstractMongoClientConfiguration {
  private final MongoClient client;

  BlockingApplication(MongoClient client) {
    this.client = client;
  }

  @Override
  public MongoClient mongoClient() {
    return client;
  }

  @Override
  protected String getDatabaseName() {
    return Application.DATABASE;
  }

  @Override
  protected boolean autoIndexCreation() {
    return true;
  }
}
