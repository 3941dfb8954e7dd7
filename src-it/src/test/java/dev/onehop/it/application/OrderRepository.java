package dev.onehop.it.application;

import org.springframework.data.mongodb.repository.Aggregation;
import org.springframework.data.mongodb.repository.Query;
import org.springframework.data.mongodb.repository.ReactiveMongoRepository;
import org.springframework.data.mongodb.repository.Update;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A Spring Data repository with derived, declared and updating queries. */
interface OrderRepository extends ReactiveMongoRepository<Order, String> {

  Flux<Order> findByCustomer(String customer);

  Flux<Order> findByTotalGreaterThanOrderByTotal(int total);

  Mono<Long> countByCustomer(String customer);

  Mono<Boolean> existsByCustomer(String customer);

  Mono<Long> deleteByCustomer(String customer);

  @Query("{ customer: ?0, items: ?1 }")
  Flux<Order> withItem(String customer, String item);

  @Update("{ $inc: { total: ?1 } }")
  Mono<Long> findAndAddToTotalByCustomer(String customer, int amount);

  @Aggregation({
    "{ $match: { customer: ?0 } }",
    "{ $group: { _id: '$customer', total: { $sum: '$total' } } }"
  })
  Mono<CustomerTotal> totalOf(String customer);

  /** The total of all orders of a customer. */
  record CustomerTotal(String id, int total) {}
}
