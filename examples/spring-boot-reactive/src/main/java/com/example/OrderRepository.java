package com.example;

import java.util.UUID;
import org.springframework.data.mongodb.repository.ReactiveMongoRepository;
import reactor.core.publisher.Flux;

interface OrderRepository extends ReactiveMongoRepository<Order, UUID> {
  Flux<Order> findByCustomer(String customer);
}
